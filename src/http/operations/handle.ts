import type { Json } from '../../../contract/json.ts'
import type { ErrorCodeOf, OperationId } from '../../../contract/operation-types.ts'

/** A handler of any operation. `Handlers` has the exact types. */
export type Handle = (request: object) => Promise<Failure | Success>

export interface Failure {
  readonly failure: ErrorCodeOf<OperationId>
  readonly message: string
}

export interface Success {
  readonly body?: object | Json<object>
  readonly version?: string
  readonly next?: object
}
