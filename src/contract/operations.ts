import type { operations } from './api.gen.ts'
import type { Condition, conditions } from './conditions.gen.ts'

/** The types of a handler class, computed from the contract; nothing here exists at run time. */

export type OperationId = keyof operations

type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : never

/** A status that the operation documents, such as 200. */
type Status<Id extends OperationId> = keyof operations[Id]['responses']

type SuccessStatus<Id extends OperationId> = Extract<Status<Id>, 200 | 201 | 204>

/** A condition of failure whose status the operation documents. */
export type ConditionOf<Id extends OperationId> = {
  [Name in Condition]: (typeof conditions)[Name]['status'] extends Status<Id> ? Name : never
}[Condition]

/** A request as it reaches a handler: it has passed authentication and the contract. */
export interface OperationRequest<Id extends OperationId> {
  readonly body: Json<NonNullable<operations[Id]['requestBody']>>
}

/** What a handler may answer; anything that the contract does not document does not compile. */
export type OperationAnswer<Id extends OperationId> =
  | { readonly body: Json<operations[Id]['responses'][SuccessStatus<Id>]> }
  | { readonly failure: ConditionOf<Id>; readonly message: string }

/** A handler class: one method for each `operationId`. */
export type Handlers = {
  [Id in OperationId]: (request: OperationRequest<Id>) => Promise<OperationAnswer<Id>>
}
