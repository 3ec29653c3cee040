/** How long one turn of the event loop starts requests before it yields, in milliseconds. */
const TURN_MS = 20

/** Requests that have waited longer are rejected, because clients give up and the queue must not grow. */
const WAIT_MAX_MS = 5000

/** Waiting requests started per turn, if time allows. */
const STARTED_MAX = 256

interface Waiting {
  readonly since: number
  readonly start: () => void
  readonly reject: () => void
}

/**
 * Shares the event loop. If many expensive requests arrive at once, each turn of the loop starts only as many as
 * take 20 ms. The rest wait in order, so that cheap requests such as health checks are answered in between. A request
 * that has waited for 5 s is rejected, because the service is overloaded.
 *
 * (@fastify/under-pressure measures the mean delay of the last second, so it rejects too late and also rejects cheap
 * requests. It also keeps a timer running after the service has stopped.)
 */
export class RequestScheduler {
  readonly #now: () => number
  #waiting: Waiting[] = []
  /** When this turn is used up; undefined before the first request of a turn. */
  #end: number | undefined

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Calls `start` now or in a later turn, or `reject` if the wait is too long. */
  take(start: () => void, reject: () => void): void {
    const now = this.#now()
    this.#end ??= this.#begin(now)
    if (this.#waiting.length === 0 && now < this.#end) start()
    else this.#waiting.push({ since: now, start, reject })
  }

  #begin(now: number): number {
    // One callback per request, so that its synchronous work counts before the next one starts.
    const count = Math.min(this.#waiting.length, STARTED_MAX)
    for (let started = 0; started < count; started++) setImmediate(() => this.#startNext())
    setImmediate(() => this.#endTurn())
    return now + TURN_MS
  }

  #startNext(): void {
    const now = this.#now()
    if (now >= (this.#end as number)) return
    const { since, start, reject } = this.#waiting.shift() as Waiting
    if (now - since > WAIT_MAX_MS) reject()
    else start()
  }

  #endTurn(): void {
    this.#end = this.#waiting.length > 0 ? this.#begin(this.#now()) : undefined
  }
}
