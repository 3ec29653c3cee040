import { StoreUnavailable } from '../../../service/plant-store.ts'

/** Thrown to a caller that has waited until its deadline. The server may still complete the work. */
export class DeadlineExceeded extends StoreUnavailable {
  constructor(timeout: number) {
    super('failing', `the server did not respond within ${timeout} ms`)
  }
}

/** When a call must have ended, however many connections, statements and attempts it takes. */
export class Deadline {
  readonly #timeout: number
  readonly #end: number

  /** @param timeout milliseconds from now */
  constructor(timeout: number) {
    this.#timeout = timeout
    this.#end = performance.now() + timeout
  }

  /**
   * Settles as the work does, unless the deadline passes first.
   *
   * @throws DeadlineExceeded
   */
  async limit<Result>(work: Promise<Result>): Promise<Result> {
    const { promise: exceeded, reject } = Promise.withResolvers<never>()
    const fail = () => reject(new DeadlineExceeded(this.#timeout))
    const timer = setTimeout(fail, Math.max(0, this.#end - performance.now()))
    try {
      return await Promise.race([work, exceeded])
    } finally {
      clearTimeout(timer)
    }
  }
}
