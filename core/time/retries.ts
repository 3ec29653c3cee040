import { type Clock, systemClock } from './clock.ts'

/** When an action is tried again. Times are in milliseconds. */
export interface RetryPolicy {
  /**
   * How often it is tried, at most.
   *
   * @default Infinity
   */
  readonly attempts?: number
  /** The delay after the first failure. It doubles after each further one. 0 for none, not even a turn of the event loop. */
  readonly delayMs: number
  /**
   * The maximum delay.
   *
   * @default delayMs
   */
  readonly delayMsMax?: number
  /**
   * Whether each delay is randomly shortened by up to half, so that callers do not retry in lockstep.
   *
   * @default false
   */
  readonly jitter?: boolean
  /** Returns what to add to the delay after a failure, or undefined to give up. By default, every failure is retried. */
  readonly delayAfter?: (error: unknown, failures: number) => number | undefined
  /** Ends the retries. */
  readonly signal?: AbortSignal | undefined
  readonly wait?: Clock['wait']
}

/** A timer of more than 2^31 - 1 milliseconds would fire at once. */
const DELAY_MS_MAX = 86_400_000

/**
 * Repeats an action until it succeeds.
 *
 * @param attempt receives the number of failures so far
 * @throws the error of the last attempt, or the abort reason of the signal
 */
export async function retry<Result>(
  attempt: (failures: number) => Promise<Result>,
  policy: RetryPolicy,
): Promise<Result> {
  const { attempts = Number.POSITIVE_INFINITY, delayAfter = () => 0, signal } = policy
  const { wait = systemClock.wait } = policy
  let failures = 0
  for (;;) {
    try {
      return await attempt(failures)
    } catch (error) {
      signal?.throwIfAborted()
      failures++
      const addedMs = failures < attempts ? delayAfter(error, failures) : undefined
      if (addedMs === undefined) throw error
      const delayMs = addedMs + backoffMs(failures, policy)
      if (delayMs > 0) await wait(Math.min(delayMs, DELAY_MS_MAX), signal)
      signal?.throwIfAborted()
    }
  }
}

/**
 * The delay after a failure (exponential backoff), in milliseconds.
 *
 * @param failures so far, at least 1
 * @param random from 0 to 1
 */
export function backoffMs(
  failures: number,
  { delayMs, delayMsMax = delayMs, jitter = false }: RetryPolicy,
  random = Math.random(),
): number {
  // 2 to the power of 1024 is infinite, and 0 times that is no number.
  const backoff = Math.min(delayMs * 2 ** Math.min(failures - 1, 1000), delayMsMax)
  return jitter ? backoff * (0.5 + random / 2) : backoff
}
