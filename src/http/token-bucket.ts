import type { Rate } from '../setting-values.ts'

/** Keys that are remembered; beyond that the one that was used least recently is forgotten. */
const KEYS_MAX = 10_000

/** Sums of times are off by far less, in milliseconds. */
const ROUNDING = 1e-3

/**
 * Token buckets, one for each key: each takes a burst of requests, and is refilled at a constant rate. A bucket
 * is a single number, the time at which it will be full (the generic cell rate algorithm, ITU-T I.371).
 *
 * Written here, as the maintained libraries count windows (@fastify/rate-limit, rate-limiter-flexible) or hold
 * one bucket without bounds on many (limiter).
 */
export class TokenBuckets {
  readonly #interval: number
  readonly #capacity: number
  readonly #now: () => number
  /** In the order of their last use. */
  readonly #fullAt = new Map<string, number>()

  /**
   * @param rate at which a bucket is refilled
   * @param burst how many requests a full bucket takes at once
   * @param now milliseconds of a clock that never goes back
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

  /** Takes a request from the bucket; or, if it is empty, returns the milliseconds until it is not. */
  take(key: string): number | undefined {
    const now = this.#now()
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now) + this.#interval
    const wait = fullAt - this.#capacity - now
    if (wait > ROUNDING) return wait
    this.#set(key, fullAt)
    return undefined
  }

  /** Puts back a request that was taken. */
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
