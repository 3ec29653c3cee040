import { retry } from '../core/time/retries.ts'
import { ConnectionError, hasCondition, PlantStoreError, UnknownOutcomeError } from './errors.ts'

/** When and how often a request is retried. Times are in milliseconds. */
export interface RetryOptions {
  /**
   * The maximum number of retries; 0 for none.
   *
   * @default 4
   */
  readonly retries?: number | undefined
  /**
   * The delay before the first retry, in addition to a `Retry-After`. It doubles for each further retry, and
   * is randomly shortened by up to half.
   *
   * @default 250
   */
  readonly retryDelay?: number | undefined
  /**
   * The maximum delay. A failure whose `Retry-After` is longer is thrown at once.
   *
   * @default 30_000
   */
  readonly maxRetryDelay?: number | undefined
  /**
   * The maximum time of each attempt, including its response.
   *
   * @default 30_000
   */
  readonly timeout?: number | undefined
}

/** How requests that wait for changes differ. */
export interface WaitOptions {
  /** How long the service can wait before it responds, in addition to `timeout`. */
  readonly waitMs?: number
  /** Whether to retry until it succeeds, at any `Retry-After`, although at least once a day. */
  readonly isEndless?: boolean
}

/** Receives a signal that ends the attempt, and the error of an earlier one that may have taken effect. */
type Attempt<Result> = (signal: AbortSignal, earlier?: Error) => Promise<Result>

/** The service did nothing, because the client sends too many requests (RFC 6585 §4). */
const TOO_MANY_REQUESTS = 429

/** The service is unavailable, or a proxy cannot reach it (RFC 9110 §15.6). */
const TRANSIENT = new Set([TOO_MANY_REQUESTS, 502, 503, 504])

/**
 * Repeats an attempt until it succeeds or fails permanently. That is safe because every operation of the
 * contract is idempotent (RFC 9110 §9.2.2), including PATCH, whose merge patch sets absolute values.
 *
 * @throws the error of the last attempt, or the abort reason of `signal`
 * @throws UnknownOutcomeError if the plant does not match `If-Match`, possibly because of an earlier attempt
 */
export async function withRetries<Result>(
  attempt: Attempt<Result>,
  { retries = 4, retryDelay = 250, maxRetryDelay = 30_000, timeout = 30_000 }: RetryOptions,
  signal?: AbortSignal,
  { waitMs = 0, isEndless = false }: WaitOptions = {},
): Promise<Result> {
  let earlier: Error | undefined
  return retry(() => attemptOnce(attempt, timeout + waitMs, signal, earlier), {
    attempts: isEndless ? Number.POSITIVE_INFINITY : retries + 1,
    delayMs: retryDelay,
    delayMsMax: maxRetryDelay,
    jitter: true,
    delayAfter: (error) => {
      if (!isTransient(error)) return undefined
      const retryAfterMs = 1000 * (error.retryAfter ?? 0)
      if (retryAfterMs > maxRetryDelay && !isEndless) return undefined
      if (error.status !== TOO_MANY_REQUESTS) earlier = error
      return retryAfterMs
    },
    signal,
  })
}

async function attemptOnce<Result>(
  attempt: Attempt<Result>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  earlier: Error | undefined,
): Promise<Result> {
  const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
  try {
    return await attempt(AbortSignal.any(signals), earlier)
  } catch (error) {
    signal?.throwIfAborted()
    throw earlier && hasCondition(error, 'plant-changed') ? unknownOutcome(earlier, error) : error
  }
}

/** The error for a change that was refused after an attempt that may have taken effect. */
export function unknownOutcome(
  earlier: Error,
  { message, requestId }: PlantStoreError,
): UnknownOutcomeError {
  const text = `the change may have taken effect: ${earlier.message}, then ${message}`
  return new UnknownOutcomeError(text, { cause: earlier, requestId })
}

function isTransient(error: unknown): error is PlantStoreError {
  if (error instanceof ConnectionError) return true
  return error instanceof PlantStoreError && TRANSIENT.has(Number(error.status))
}
