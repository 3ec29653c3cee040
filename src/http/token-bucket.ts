import type { Rate } from '../config/setting-values.ts'

/** Keys remembered at most; when there are more, the least recently used is forgotten. */
const KEYS_MAX = 10_000

/** Tolerance for rounding errors in sums of times, in milliseconds. */
const ROUNDING = 1e-3

/**
 * One token bucket per key: each allows a burst of requests and refills at a constant rate. A bucket is a single
 * number, the time at which it will be full (the generic cell rate algorithm, ITU-T I.371).
 *
 * Not a library, because the maintained ones count fixed windows (@fastify/rate-limit, rate-limiter-flexible) or
 * provide a single bucket and no bound on the number of keys (limiter).
 */
export class TokenBuckets {
  readonly #interval: number
  readonly #capacity: number
  readonly #now: () => number
  /** Ordered by last use. */
  readonly #fullAt = new Map<string, number>()

  /**
   * @param rate at which a bucket is refilled
   * @param burst how many requests a full bucket takes at once
   * @param now a monotonic clock in milliseconds
   */
  constructor(
    { requests, window }: Rate,
    burst: number,
    now: () => number = () => performance.now(),
  ) {
    this.#interval = window / requests
    this.#capacity = burst * this.#interval
    this.#now = now
  }

  /** Takes a request from the bucket. If it is empty, returns the milliseconds until the next request. */
  take(key: string): number | undefined {
    const now = this.#now()
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now) + this.#interval
    const wait = fullAt - this.#capacity - now
    if (wait > ROUNDING) return wait
    this.#set(key, fullAt)
    return undefined
  }

  /** Returns a request to the bucket. */
  putBack(key: string): void {
    const fullAt = this.#fullAt.get(key)
    if (fullAt !== undefined) this.#set(key, fullAt - this.#interval)
  }

  #set(key: string, fullAt: number): void {
    this.#fullAt.delete(key)
    this.#fullAt.set(key, fullAt)
    if (this.#fullAt.size <= KEYS_MAX) return
    const [oldest] = this.#fullAt.keys()
    this.#fullAt.delete(oldest as string)
  }
}
