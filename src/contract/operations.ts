import type { operations } from './api.gen.ts'
import type { ErrorCode, errorCodes } from './error-codes.gen.ts'

/** The types of a handler class, computed from the contract; nothing here exists at run time. */

export type OperationId = keyof operations

/** What the contract has for content, whatever its media type. */
type Content<Part> = Part extends { content: infer ByType } ? ByType[keyof ByType] : never

/** A status that the operation documents, such as 200. */
type Status<Id extends OperationId> = keyof operations[Id]['responses']

type Success<Id extends OperationId> = operations[Id]['responses'][Extract<
  Status<Id>,
  200 | 201 | 204
>]

/** A condition of failure whose status the operation documents. */
export type ErrorCodeOf<Id extends OperationId> = {
  [Name in ErrorCode]: (typeof errorCodes)[Name]['status'] extends Status<Id> ? Name : never
}[ErrorCode]

type Parameters<
  Id extends OperationId,
  Place extends keyof operations[Id]['parameters'],
> = NonNullable<operations[Id]['parameters'][Place]>

/** A member that is there if the contract has something for it. */
type Member<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : { readonly [Each in Name]: Value }

/** A request as it reaches a handler: it has passed authentication and the contract. */
export type OperationRequest<Id extends OperationId> = Member<'params', Parameters<Id, 'path'>> &
  Member<'query', Parameters<Id, 'query'>> &
  Member<'body', Content<NonNullable<operations[Id]['requestBody']>>> &
  ('If-Match' extends HeaderOf<Id> ? Precondition : unknown)

/** The headers that the operation reads; `keyof never` would be any. */
type HeaderOf<Id extends OperationId> = [Parameters<Id, 'header'>] extends [never]
  ? never
  : keyof Parameters<Id, 'header'>

interface Precondition {
  /** The versions that the client has seen; the request is for one of them only. */
  readonly expected?: readonly string[] | undefined
}

/** What a handler may answer; anything that the contract does not document does not compile. */
export type OperationAnswer<Id extends OperationId> =
  | Failed<Id>
  | ([Content<Success<Id>>] extends [never]
      ? Record<string, never>
      : { readonly body: Content<Success<Id>> } & (Success<Id> extends { headers: { ETag: string } }
          ? { readonly version: string }
          : unknown) &
          (Success<Id> extends { headers: { Link?: string } } ? Continued<Id> : unknown))

interface Failed<Id extends OperationId> {
  readonly failure: ErrorCodeOf<Id>
  readonly message: string
}

interface Continued<Id extends OperationId> {
  /** What the query for the next page differs in; without it this page is the last. */
  readonly next?: Partial<Parameters<Id, 'query'>> | undefined
}

/** A handler class: one method for each `operationId`. */
export type Handlers = {
  [Id in OperationId]: (request: OperationRequest<Id>) => Promise<OperationAnswer<Id>>
}
