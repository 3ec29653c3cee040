/** How many bytes may be held in memory at a time for one purpose, by all requests together. */
export class ByteBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Takes some of the budget, unless that would exceed it. The first to take may take any amount. */
  take(bytes: number): boolean {
    if (this.#held > 0 && this.#held + bytes > this.#max) return false
    this.#held += bytes
    return true
  }

  /** Gives back what was taken. */
  release(bytes: number): void {
    this.#held -= bytes
  }
}
