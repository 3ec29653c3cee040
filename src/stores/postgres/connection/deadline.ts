import { StoreUnavailable } from '../../../../service/plant-store.ts'

/** Thrown to a caller that has waited long enough. The server may still complete the work. */
export class DeadlineExceeded extends StoreUnavailable {
  constructor(detail: string) {
    super('failing', detail)
  }
}

/** When a call must have ended, however many connections, statements and attempts it takes. */
export class Deadline {
  readonly #timeout: number
  readonly #end: number
  readonly #signal: AbortSignal | undefined

  /**
   * @param timeout milliseconds from now
   * @param signal ends the call earlier, because the store closes
   */
  constructor(timeout: number, signal?: AbortSignal) {
    this.#timeout = timeout
    this.#end = performance.now() + timeout
    this.#signal = signal
  }

  /**
   * Settles as the work does, unless the deadline passes first.
   *
   * @throws DeadlineExceeded
   */
  async limit<Result>(work: Promise<Result>): Promise<Result> {
    const { promise: exceeded, reject } = Promise.withResolvers<never>()
    const fail = () =>
      reject(new DeadlineExceeded(`the server did not respond within ${this.#timeout} ms`))
    const abandon = () => reject(new DeadlineExceeded('the store is closing'))
    const timer = setTimeout(fail, Math.max(0, this.#end - performance.now()))
    this.#signal?.addEventListener('abort', abandon)
    if (this.#signal?.aborted) abandon()
    try {
      return await Promise.race([work, exceeded])
    } finally {
      clearTimeout(timer)
      this.#signal?.removeEventListener('abort', abandon)
    }
  }
}
