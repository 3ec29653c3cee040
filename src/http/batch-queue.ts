/** How many bytes of batches are parsed and stored at a time. Those of more would only wait in the store. */
const IN_SERVICE_BYTES_MAX = 2 ** 18

/** How many bytes of batches each turn of the event loop starts to parse. The requests of other clients run in between. */
const TURN_BYTES_MAX = 2 ** 15

/** Batches that have waited longer are rejected, because clients give up and the queue must not grow. */
const WAIT_MAX_MS = 5000

interface Waiting {
  readonly bytes: number
  readonly since: number
  readonly start: () => void
  readonly reject: () => void
}

/**
 * The batches of one thread, in order of arrival. A batch takes as long as hundreds of other requests, so only a few are
 * in service at a time, and the others wait before they are parsed. A batch is in service until its response is sent.
 */
export class BatchQueue {
  readonly #now: () => number
  readonly #waiting: Waiting[] = []
  #inService = 0
  #turn = 0

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Calls `start` now or later, or `reject` if that takes too long. After `start`, call `leave` once.
   *
   * @param bytes the size of the body
   */
  enter(bytes: number, start: () => void, reject: () => void): void {
    this.#waiting.push({ bytes, since: this.#now(), start, reject })
    this.#startNext()
  }

  leave(bytes: number): void {
    this.#inService -= bytes
    this.#startNext()
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || !this.#hasRoom(next.bytes)) return
      this.#waiting.shift()
      if (this.#now() - next.since > WAIT_MAX_MS) {
        next.reject()
        continue
      }
      if (this.#turn === 0) setImmediate(() => this.#endTurn())
      this.#inService += next.bytes
      this.#turn += next.bytes
      next.start()
    }
  }

  /** One batch of any size always has room. */
  #hasRoom(bytes: number): boolean {
    if (this.#turn > 0 && this.#turn + bytes > TURN_BYTES_MAX) return false
    return this.#inService === 0 || this.#inService + bytes <= IN_SERVICE_BYTES_MAX
  }

  #endTurn(): void {
    this.#turn = 0
    this.#startNext()
  }
}
