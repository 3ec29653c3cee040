import type { Rate } from '../config/setting-values.ts'
import { SharedTable, sharedKey } from '../shared-memory/shared-table.ts'

/**
 * One token bucket per key: each allows a burst of requests and refills at a constant rate. A bucket is a single
 * number, the time at which it will be full (the generic cell rate algorithm, ITU-T I.371), in microseconds. If there
 * are too many buckets, the fullest is forgotten.
 *
 * The maintained libraries do not fit: @fastify/rate-limit and rate-limiter-flexible count fixed windows, and limiter
 * has a single bucket and no bound on the number of keys. None can share its buckets between threads.
 */
export class TokenBuckets {
  readonly #interval: number
  readonly #capacity: number
  readonly #fullAt: SharedTable
  readonly #now: () => number

  /**
   * @param rate the rate at which a bucket refills, at most a request per microsecond
   * @param burst how many requests a full bucket allows at once
   * @param fullAt the buckets, which threads can share
   * @param now a monotonic clock in microseconds, the same in all threads
   */
  constructor(
    { requests, window }: Rate,
    burst: number,
    fullAt = new SharedTable(),
    now: () => number = monotonicTime,
  ) {
    this.#interval = Math.max(1, Math.round((window * 1000) / requests))
    this.#capacity = burst * this.#interval
    this.#fullAt = fullAt
    this.#now = now
  }

  /** Takes a request from a bucket. If it is empty, returns how long to wait for the next one, in milliseconds. */
  take(key: string): number | undefined {
    const now = this.#now()
    let wait = 0
    const taken = this.#fullAt.update(sharedKey(key), (fullAt = now) => {
      const next = Math.max(fullAt, now) + this.#interval
      wait = next - this.#capacity - now
      return wait > 0 ? undefined : next
    })
    return taken ? undefined : wait / 1000
  }

  /** Returns a request to a bucket. */
  putBack(key: string): void {
    this.#fullAt.update(sharedKey(key), (fullAt) =>
      fullAt === undefined ? undefined : fullAt - this.#interval,
    )
  }
}

/** `performance.now()` has a different origin in each thread of some versions of Node. */
function monotonicTime(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
