import { StoreUnavailable } from '../../../../service/plant-store.ts'

/** When a call must have ended, however many hosts, statements and attempts it takes. */
export class Deadline {
  readonly #timeoutMs: number
  readonly #signal: AbortSignal
  #end = 0

  /**
   * @param timeoutMs from now
   * @param closing ends the call earlier, because the store closes
   */
  constructor(timeoutMs: number, closing: AbortSignal) {
    this.#timeoutMs = timeoutMs
    this.#signal = closing
    this.restart()
  }

  /** Gives the next statement as much time as a call has. */
  restart(): void {
    this.#end = performance.now() + this.#timeoutMs
  }

  /**
   * Settles as the work does, unless the deadline passes first. The server may still complete the work.
   *
   * @throws StoreUnavailable
   */
  async limit<Result>(work: Promise<Result>): Promise<Result> {
    const { promise: exceeded, reject } = Promise.withResolvers<never>()
    const fail = (reason: string) => reject(new StoreUnavailable('failing', reason))
    const abandon = () => fail('the store is closing')
    const timer = setTimeout(
      () => fail(`the server did not respond within ${this.#timeoutMs} ms`),
      Math.max(0, this.#end - performance.now()),
    )
    this.#signal.addEventListener('abort', abandon)
    if (this.#signal.aborted) abandon()
    try {
      return await Promise.race([work, exceeded])
    } finally {
      clearTimeout(timer)
      this.#signal.removeEventListener('abort', abandon)
    }
  }
}
