/** Limits the bytes that all requests together hold in memory for one purpose. */
export class ByteBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Takes bytes if they fit. While nothing is taken, any amount fits. */
  take(bytes: number): boolean {
    if (this.#held > 0 && this.#held + bytes > this.#max) return false
    this.#held += bytes
    return true
  }

  /** Returns bytes that were taken. */
  release(bytes: number): void {
    this.#held -= bytes
  }
}
