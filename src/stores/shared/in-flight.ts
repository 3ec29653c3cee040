/** Counts calls in flight, so that closing can wait for them. */
export class InFlight {
  #count = 0
  #idle = Promise.withResolvers<void>()

  /** Counts a call until `leave`. */
  enter(): void {
    this.#count++
  }

  /** @param calls how many have ended */
  leave(calls = 1): void {
    this.#count -= calls
    if (this.#count > 0) return
    this.#idle.resolve()
    this.#idle = Promise.withResolvers()
  }

  /** Calls a function, and counts the call until its promise settles. */
  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    this.enter()
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Resolves when no call is in flight. */
  async settle(): Promise<void> {
    if (this.#count > 0) await this.#idle.promise
  }
}
