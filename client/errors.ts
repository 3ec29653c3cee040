import { type ErrorCode, errorCodes } from '../core/generated/error-codes.gen.ts'
import { propertiesOf } from '../core/known.ts'

/** The service responded, but not with the requested result. */
export abstract class ResponseError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Seconds to wait before repeating the request, if the response has a `Retry-After` in seconds. */
  readonly retryAfter: number | undefined

  constructor(message: string, status: number, retryAfter?: number) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/**
 * The service rejected the request with an error from the contract. The message comes from the service.
 *
 * @example
 * const isTaken = error instanceof PlantStoreError && error.condition === 'plant-exists'
 */
export class PlantStoreError extends ResponseError {
  override readonly name = 'PlantStoreError'
  /** The name of the error code in the contract. */
  readonly condition: ErrorCode
  /** The error code, such as 40901. */
  readonly error: number

  constructor(condition: ErrorCode, message: string, retryAfter?: number) {
    super(message, errorCodes[condition].status, retryAfter)
    this.condition = condition
    this.error = errorCodes[condition].error
  }
}

/**
 * The response violates the contract, such as a redirect or the error page of a proxy. The message quotes the start of
 * the body.
 *
 * @example
 * if (error instanceof UnexpectedAnswerError) console.error(`check the url: ${error.message}`)
 */
export class UnexpectedAnswerError extends ResponseError {
  override readonly name = 'UnexpectedAnswerError'
}

/**
 * The connection failed, or the response did not arrive completely and in time; `cause` has the reason. A
 * change may have taken effect.
 *
 * @example
 * if (error instanceof ConnectionError) console.error(error.message, error.cause)
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/**
 * The plant does not match `ifMatch` or `ifContent`, possibly because an earlier attempt of the same call has changed it.
 * That attempt failed with `cause`. Fetch the plant to find out. `changePlants` also throws it for a list with such a
 * condition if a plant no longer exists, or its id belongs to a different one, and for any list that is refused as too
 * large.
 *
 * @example
 * if (error instanceof UnknownOutcomeError) console.log(await plants.getPlant(4n))
 */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
}

/**
 * A part of the plants failed; `cause` is its error, in which an index such as `body/17` counts from `start`. An attempt
 * that the service rejected stored none of the part. One that failed in another way may have stored all of it.
 * The plants before `start` are stored. Those from `end` on were not sent. To continue, call `createPlants` with the
 * same plants again: those that are already stored stay unchanged.
 *
 * @example
 * if (error instanceof BatchError) console.error(`plants ${error.start} to ${error.end - 1}`, error.cause)
 */
export class BatchError extends Error {
  override readonly name = 'BatchError'
  /** The index of the first plant of the part that failed. */
  readonly start: number
  /** The index after its last plant. */
  readonly end: number
  /** The number of plants before `start` that were created. */
  readonly created: number
  /** The number of plants before `start` that were already stored. */
  readonly replayed: number

  constructor({ start, end, created, replayed }: FailedPart, options: { readonly cause: unknown }) {
    const { message = String(options.cause) } = propertiesOf(options.cause)
    const [plants, they] =
      end - start === 1 ? [`plant ${start}`, 'it'] : [`plants ${start} to ${end - 1}`, 'they']
    const advice = `; ${they} may have been stored, and calling again is safe`
    super(`${plants} failed: ${message}${mayBeStored(options.cause) ? advice : ''}`, options)
    this.start = start
    this.end = end
    this.created = created
    this.replayed = replayed
  }
}

/** Whether the service may have stored the part: it did not respond, reported its own failure, or sent nonsense. */
function mayBeStored(cause: unknown): boolean {
  if (cause instanceof ConnectionError) return true
  return cause instanceof ResponseError && (cause.status < 300 || cause.status >= 500)
}

type FailedPart = Pick<BatchError, 'start' | 'end' | 'created' | 'replayed'>

/** Whether an error is a PlantStoreError with a given condition. */
export function hasCondition(error: unknown, condition: ErrorCode): error is PlantStoreError {
  return error instanceof PlantStoreError && error.condition === condition
}
