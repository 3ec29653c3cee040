import { StoreUnavailable } from '../../../../service/store/plant-store.ts'

/** A call took too long. The server may be down, slow, or waiting for another transaction. */
export class TimedOut extends StoreUnavailable {}

/** When a call must have ended, however many hosts, statements and attempts it takes. */
export class Deadline {
  readonly #timeoutMs: number
  readonly #exceeded = Promise.withResolvers<never>()
  #timer: NodeJS.Timeout | undefined

  /** @param timeoutMs from now */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.#exceeded.promise.catch(() => {})
    this.restart()
  }

  /** Starts the full timeout again. */
  restart(): void {
    this.cancel()
    const reason = `the server did not respond within ${this.#timeoutMs} ms`
    const pass = () => this.#exceeded.reject(new TimedOut('failing', reason))
    this.#timer = setTimeout(pass, this.#timeoutMs)
  }

  /** Stops the timer. */
  cancel(): void {
    clearTimeout(this.#timer)
  }

  /** Lets the deadline pass now. */
  pass(reason: string): void {
    this.#exceeded.reject(new StoreUnavailable('failing', reason))
  }

  /**
   * Settles as the work does, unless the deadline passes first. The server may still complete the work.
   *
   * @throws StoreUnavailable
   */
  limit<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#exceeded.promise])
  }
}
