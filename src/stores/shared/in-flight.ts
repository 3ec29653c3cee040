/** Counts calls in flight, so that closing can wait for them. */
export class InFlight {
  #count = 0
  #idle = Promise.withResolvers<void>()

  /** Calls a function, and counts the call until its promise settles. */
  async track<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#count++
    try {
      return await work()
    } finally {
      if (--this.#count === 0) {
        this.#idle.resolve()
        this.#idle = Promise.withResolvers()
      }
    }
  }

  /** Resolves when no call is in flight. */
  async settle(): Promise<void> {
    if (this.#count > 0) await this.#idle.promise
  }
}
