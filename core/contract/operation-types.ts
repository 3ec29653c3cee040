/** The types of the handlers, derived from the contract. */
import type { DefaultedParameters, operations } from '../generated/api.gen.ts'
import type { ErrorCode, errorCodes } from '../generated/error-codes.gen.ts'
import type { Grant } from './scopes.ts'

declare const content: unique symbol

/** The JSON text of a value. A response with it is sent as it is. */
export type Json<Value> = string & { readonly [content]: Value }

export type OperationId = keyof operations

/** The type of a body, in any of its media types. */
type Content<Part> = Part extends { content: infer ByType } ? ByType[keyof ByType] : never

/** A documented status, such as 200. */
type Status<Id extends OperationId> = keyof operations[Id]['responses']

type Success<Id extends OperationId> = operations[Id]['responses'][Extract<
  Status<Id>,
  200 | 201 | 204
>]

/** The error codes whose status the operation documents. */
export type ErrorCodeOf<Id extends OperationId> = {
  [Name in ErrorCode]: (typeof errorCodes)[Name]['status'] extends Status<Id> ? Name : never
}[ErrorCode]

/** The parameters in one part of a request, as a client sends them. */
type SentParameters<
  Id extends OperationId,
  Part extends keyof operations[Id]['parameters'],
> = NonNullable<operations[Id]['parameters'][Part]>

/** Parameters as a handler receives them: those with a default are always present. */
type ParametersIn<
  Id extends OperationId,
  Part extends keyof operations[Id]['parameters'],
> = SentParameters<Id, Part> &
  Required<Pick<SentParameters<Id, Part>, DefaultedParameters[Id] & keyof SentParameters<Id, Part>>>

/** An object with one member, which is absent if its type is `never`. */
type Member<Name extends string, Value> = [Value] extends [never]
  ? unknown
  : { readonly [Each in Name]: Value }

/** A request that has passed authentication and validation. */
export type OperationRequest<Id extends OperationId> = Member<'params', ParametersIn<Id, 'path'>> &
  Member<'query', ParametersIn<Id, 'query'>> &
  Member<'body', Content<NonNullable<operations[Id]['requestBody']>>> &
  ('If-Match' extends HeaderOf<Id> ? Precondition : unknown)

/** The names of the header parameters. `keyof never` would allow every name. */
type HeaderOf<Id extends OperationId> = [SentParameters<Id, 'header'>] extends [never]
  ? never
  : keyof SentParameters<Id, 'header'>

/** The header parameters, with their names in lower case, as Node passes them. Handlers receive none of them. */
export type HeadersOf<Id extends OperationId> = {
  readonly [Name in HeaderOf<Id> as Lowercase<Name & string>]?: SentParameters<Id, 'header'>[Name]
}

interface Precondition {
  /** The versions in `If-Match`: the plant must have one of them. Undefined allows any. */
  readonly expected?: readonly string[] | undefined
}

/** The result of an operation. A result that the contract does not document does not compile. */
export type OperationResult<Id extends OperationId> =
  | Failure<Id>
  | ([Content<Success<Id>>] extends [never]
      ? Record<string, never>
      : {
          readonly body: Immutable<Content<Success<Id>>> | Json<Content<Success<Id>>>
        } & (Success<Id> extends { headers: { ETag: string } }
          ? { readonly version: string }
          : Success<Id> extends { headers: { ETag?: string } }
            ? { readonly version: string | undefined }
            : unknown) &
          (Success<Id> extends { headers: { Link?: string } } ? Paged<Id> : unknown) &
          (Success<Id> extends { headers: { 'Plant-Count'?: string } } ? Counted : unknown))

/** An array as handlers may return it. */
type Immutable<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value

interface Failure<Id extends OperationId> {
  readonly failure: ErrorCodeOf<Id>
  readonly message: string
}

interface Paged<Id extends OperationId> {
  /** The query parameters that differ for the next page. Undefined on the last page. */
  readonly next?: Partial<SentParameters<Id, 'query'>> | undefined
}

export interface PlantCount {
  readonly plants: number
  /** Whether all plants were examined. Otherwise, more plants may match. */
  readonly isExact: boolean
}

interface Counted {
  /** How many plants match on all pages. Undefined unless the request has `count`. */
  readonly count?: PlantCount | undefined
}

/** Who has sent a request, and waits for the response. */
export interface Client {
  readonly grant: Grant
  /** Whether the client has closed its side of the connection. */
  isGone(): boolean
}

/** One method for each `operationId`. */
export type Handlers = {
  [Id in OperationId]: (
    request: OperationRequest<Id>,
    client: Client,
  ) => Promise<OperationResult<Id>>
}

/** A request for any operation. `OperationRequest` has the exact types. */
export interface AnyRequest {
  readonly params: object
  readonly query: object
  readonly headers: object
  readonly body: unknown
  readonly expected: readonly string[] | undefined
}

/** A handler of any operation. `Handlers` has the exact types. */
export type Handler = (request: AnyRequest, client: Client) => Promise<AnyResult>

/** The result of any operation. */
export type AnyResult = AnyFailure | AnySuccess

export interface AnyFailure {
  readonly failure: ErrorCode
  readonly message: string
}

export interface AnySuccess {
  /** A string is JSON text. */
  readonly body?: object | string
  readonly version?: string | undefined
  readonly next?: object | undefined
  readonly count?: PlantCount | undefined
}
