import type { Rate } from '../config/setting-values.ts'

/** How many keys to remember. Beyond that, the least recently used one is forgotten. */
const KEYS_MAX = 10_000

/** Tolerance for rounding errors in sums of times. */
const ROUNDING_MS = 1e-3

/**
 * One token bucket per key: each allows a burst of requests and refills at a constant rate. A bucket is a single
 * number, the time at which it will be full (the generic cell rate algorithm, ITU-T I.371).
 *
 * The maintained libraries do not fit: @fastify/rate-limit and rate-limiter-flexible count fixed windows, and limiter
 * has a single bucket and no bound on the number of keys.
 */
export class TokenBuckets {
  readonly #intervalMs: number
  readonly #capacityMs: number
  readonly #now: () => number
  /** Ordered by last use. */
  readonly #fullAt = new Map<string, number>()

  /**
   * @param rate the rate at which a bucket refills
   * @param burst how many requests a full bucket allows at once
   * @param now a monotonic clock in milliseconds
   */
  constructor(
    { requests, window }: Rate,
    burst: number,
    now: () => number = () => performance.now(),
  ) {
    this.#intervalMs = window / requests
    this.#capacityMs = burst * this.#intervalMs
    this.#now = now
  }

  /** Takes a request from a bucket. If it is empty, returns how long to wait for the next one, in milliseconds. */
  take(key: string): number | undefined {
    const now = this.#now()
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now) + this.#intervalMs
    const waitMs = fullAt - this.#capacityMs - now
    if (waitMs > ROUNDING_MS) return waitMs
    this.#set(key, fullAt)
    return undefined
  }

  /** Returns a request to a bucket. */
  putBack(key: string): void {
    const fullAt = this.#fullAt.get(key)
    if (fullAt !== undefined) this.#set(key, fullAt - this.#intervalMs)
  }

  #set(key: string, fullAt: number): void {
    this.#fullAt.delete(key)
    this.#fullAt.set(key, fullAt)
    if (this.#fullAt.size <= KEYS_MAX) return
    const [oldest] = this.#fullAt.keys()
    this.#fullAt.delete(oldest as string)
  }
}
