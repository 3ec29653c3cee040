import type { Rate } from '../../config/setting-values.ts'
import { SharedTable } from '../../shared-memory/shared-table.ts'

/** Whole numbers have no rounding errors. A tick is fine enough for rates, and coarse enough for years of uptime. */
const TICKS_PER_MS = 10_000
const NANOSECONDS_PER_TICK = BigInt(1e6 / TICKS_PER_MS)

/**
 * One token bucket per key: each allows a burst of requests and refills at a constant rate. A bucket is a single
 * number, the time at which it will be full (the generic cell rate algorithm, ITU-T I.371). If there are too many
 * buckets, the fullest is forgotten.
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
   * @param rate the rate at which a bucket refills
   * @param burst how many requests a full bucket allows at once
   * @param fullAt the buckets, which threads can share
   * @param now a monotonic clock in ticks, the same in all threads
   */
  constructor(
    { requests, window }: Rate,
    burst: number,
    fullAt = new SharedTable(),
    now: () => number = monotonicTime,
  ) {
    this.#interval = Math.max(1, Math.round((window * TICKS_PER_MS) / requests))
    this.#capacity = burst * this.#interval
    this.#fullAt = fullAt
    this.#now = now
  }

  /** Takes a request from a bucket. If it is empty, returns how long to wait for the next one, in milliseconds. */
  take(key: string): number | undefined {
    const now = this.#now()
    let wait = 0
    const taken = this.#fullAt.update(this.#fullAt.toKey(key), (fullAt = now) => {
      const next = Math.max(fullAt, now) + this.#interval
      wait = next - this.#capacity - now
      return wait > 0 ? undefined : next
    })
    return taken ? undefined : wait / TICKS_PER_MS
  }

  /** Returns a request to a bucket. */
  putBack(key: string): void {
    this.#fullAt.update(this.#fullAt.toKey(key), (fullAt) =>
      fullAt === undefined ? undefined : fullAt - this.#interval,
    )
  }
}

/** `performance.now()` has a different origin in each thread of some versions of Node. */
function monotonicTime(): number {
  return Number(process.hrtime.bigint() / NANOSECONDS_PER_TICK)
}
