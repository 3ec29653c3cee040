import { type ErrorCode, errorCodes } from '../src/contract/error-codes.gen.ts'

/** A request that was answered, but not with what was asked for. */
export abstract class FailedAnswer extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Seconds to wait before the same request is worth sending again, if the answer says so. */
  readonly retryAfter: number | undefined

  constructor(message: string, status: number, retryAfter?: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** A failure that the contract documents; the message is that of the service. */
export class PlantStoreError extends FailedAnswer {
  override readonly name = 'PlantStoreError'
  /** What the contract calls the failure. */
  readonly condition: ErrorCode
  /** The number that the contract has for the condition. */
  readonly error: number

  constructor(condition: ErrorCode, message: string, retryAfter?: number) {
    super(message, errorCodes[condition].status, retryAfter)
    this.condition = condition
    this.error = errorCodes[condition].error
  }
}

/** An answer that the contract does not have, such as a redirect or the error page of a proxy. */
export class UnexpectedAnswerError extends FailedAnswer {
  override readonly name = 'UnexpectedAnswerError'
}

/**
 * There was no connection, or no whole answer in time; `cause` has the reason. Whether a change took
 * effect is not known.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/**
 * The plant is not as in `ifMatch`, but perhaps because an earlier try of the same request, which ended
 * with `cause`, has changed it.
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
}

export function hasCondition(error: unknown, condition: ErrorCode): error is PlantStoreError {
  return error instanceof PlantStoreError && error.condition === condition
}
