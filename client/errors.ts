import { type ErrorCode, errorCodes } from '../core/generated/error-codes.gen.ts'
import { propertiesOf } from '../core/known.ts'
import type { ChangeCounts } from './plants.ts'

/** All copies of the client share it, whereas each has classes of its own. */
const BRAND = Symbol.for('plant-store-client.error')

/** What an error says of the response. */
interface ErrorDetails extends ErrorOptions {
  readonly status?: number | undefined
  readonly requestId?: string | null | undefined
  readonly retryAfter?: number | undefined
}

/** The base class of the client's errors. `isPlantStoreError` recognizes them. */
export abstract class PlantStoreError extends Error {
  /** The name of the error code in the contract. Only a ServiceError has one. */
  declare readonly condition?: ErrorCode
  /** The HTTP status. Undefined if the error is not that of one response. */
  readonly status: number | undefined
  /** The `X-Request-Id` of the last response. Undefined if there was none. Include it when you report a problem. */
  readonly requestId: string | undefined
  /** Seconds to wait before repeating the request, if the response has a `Retry-After` in seconds. */
  readonly retryAfter: number | undefined

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details)
    this.status = details.status
    this.requestId = details.requestId ?? undefined
    this.retryAfter = details.retryAfter
  }

  /** @internal */
  get [BRAND]() {
    return true
  }
}

/**
 * Whether a value is an error of the client. Unlike `instanceof`, it also recognizes those of another copy, such as
 * `plant-store/client` next to `plant-store-client`. `name` tells them apart.
 *
 * @example
 * const isTaken = isPlantStoreError(error) && error.condition === 'plant-exists'
 */
export function isPlantStoreError(error: unknown): error is PlantStoreError {
  return BRAND in propertiesOf(error)
}

/**
 * The service rejected the request with an error from the contract. The message comes from the service.
 *
 * @example
 * const isTaken = error instanceof ServiceError && error.condition === 'plant-exists'
 */
export class ServiceError extends PlantStoreError {
  override readonly name = 'ServiceError'
  declare readonly status: number
  override readonly condition: ErrorCode
  /** The error code, such as 40901. */
  readonly error: number

  constructor(condition: ErrorCode, message: string, details?: ErrorDetails) {
    super(message, { ...details, status: errorCodes[condition].status })
    this.condition = condition
    this.error = errorCodes[condition].error
  }
}

/**
 * The response violates the contract, such as a redirect or the error page of a proxy. The message quotes the start of
 * the body.
 *
 * @example
 * if (error instanceof UnexpectedResponseError) console.error(`check the url: ${error.message}`)
 */
export class UnexpectedResponseError extends PlantStoreError {
  override readonly name = 'UnexpectedResponseError'
  declare readonly status: number

  constructor(message: string, status: number, details?: ErrorDetails) {
    super(message, { ...details, status })
  }
}

/**
 * The connection failed, or the response did not arrive completely and in time; `cause` has the reason. A
 * change may have taken effect.
 *
 * @example
 * if (error instanceof ConnectionError) console.error(error.message, error.cause)
 */
export class ConnectionError extends PlantStoreError {
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
export class UnknownOutcomeError extends PlantStoreError {
  override readonly name = 'UnknownOutcomeError'
}

/**
 * A part of the plants or changes failed; `cause` is its error, in which an index such as `body/17` counts from `start`.
 * If the service rejected the part, none of it was stored. If it failed in another way, all of it may have been stored.
 * The plants or changes before `start` are stored. Those from `end` on were not sent. To continue, call the method again
 * with those from `start` on.
 *
 * @example
 * if (error instanceof BatchError) console.error(`${error.start} to ${error.end - 1}`, error.cause)
 */
export class BatchError extends PlantStoreError {
  override readonly name = 'BatchError'
  /** The index of the first plant or change of the part that failed. */
  readonly start: number
  /** The index after its last one. */
  readonly end: number
  /** The effects of those before `start`. */
  readonly counts: ChangeCounts

  constructor({ noun, start, end, counts }: FailedPart, options: { readonly cause: unknown }) {
    const { cause } = options
    const { message = String(cause) } = propertiesOf(cause)
    const items = end - start === 1 ? `${noun} ${start}` : `${noun}s ${start} to ${end - 1}`
    const advice = '; this part may have been stored, and sending it again is safe'
    const { requestId } = cause instanceof PlantStoreError ? cause : {}
    super(`${items} failed: ${message}${mayBeStored(cause) ? advice : ''}`, { cause, requestId })
    this.start = start
    this.end = end
    this.counts = counts
  }
}

/** Whether the service may have stored the part: it did not respond, reported its own failure, or sent nonsense. */
function mayBeStored(cause: unknown): boolean {
  if (!(cause instanceof PlantStoreError)) return false
  const { status = 0 } = cause
  return status < 300 || status >= 500
}

type FailedPart = Pick<BatchError, 'start' | 'end' | 'counts'> & {
  readonly noun: 'plant' | 'change'
}

/** Whether an error is a ServiceError with a given condition. */
export function hasCondition(error: unknown, condition: ErrorCode): error is ServiceError {
  return error instanceof ServiceError && error.condition === condition
}
