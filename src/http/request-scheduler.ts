/** How long each turn of the event loop starts requests before it yields. */
const TURN_MS = 20

/** Requests that have waited longer are rejected, because clients give up and the queue must not grow. */
const WAIT_MAX_MS = 5000

/** How many waiting requests a turn starts, if time allows. */
const STARTED_MAX = 256

interface Waiting {
  readonly since: number
  readonly start: () => void
  readonly reject: () => void
}

/**
 * Keeps the event loop responsive. If many expensive requests arrive at once, each turn of the loop starts requests for
 * `TURN_MS` only. The rest wait in order, so that cheap requests such as health checks are answered in between. A
 * request that has waited longer than `WAIT_MAX_MS` is rejected, because the service is overloaded.
 *
 * @fastify/under-pressure is not an alternative: it measures the mean delay of the last second, so it rejects too late
 * and rejects cheap requests too. It also keeps a timer running after the service has stopped.
 */
export class RequestScheduler {
  readonly #now: () => number
  #waiting: Waiting[] = []
  /** When the turn stops starting requests; undefined before its first request. */
  #turnEnd: number | undefined

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Calls `start` now or in a later turn, or `reject` if that takes too long. */
  schedule(start: () => void, reject: () => void): void {
    const now = this.#now()
    this.#turnEnd ??= this.#beginTurn(now)
    if (this.#waiting.length === 0 && now < this.#turnEnd) start()
    else this.#waiting.push({ since: now, start, reject })
  }

  /** Resolves now or in a later turn. For work that nobody gives up waiting for. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.schedule(resolve, resolve))
  }

  #beginTurn(now: number): number {
    // One callback per request, so that its synchronous work counts before the next one starts.
    const count = Math.min(this.#waiting.length, STARTED_MAX)
    for (let started = 0; started < count; started++) setImmediate(() => this.#startNext())
    setImmediate(() => this.#finishTurn())
    return now + TURN_MS
  }

  #startNext(): void {
    const now = this.#now()
    if (now >= (this.#turnEnd as number)) return
    const { since, start, reject } = this.#waiting.shift() as Waiting
    if (now - since > WAIT_MAX_MS) reject()
    else start()
  }

  #finishTurn(): void {
    this.#turnEnd = this.#waiting.length > 0 ? this.#beginTurn(this.#now()) : undefined
  }
}
