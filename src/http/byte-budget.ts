/**
 * Request bodies and responses up to this size count towards no budget, so that messages of the usual size get through
 * while large ones exhaust it.
 */
export const SMALL_MESSAGE_BYTES = 2 ** 14

/** The size of each of two budgets: for all large bodies being received, and for all large responses being sent. */
export const LARGE_MESSAGES_BYTES_MAX = 2 ** 26

/** Limits the bytes that all requests together hold in memory for one purpose. */
export class ByteBudget {
  readonly #max: number
  #held = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Takes bytes and returns whether they fit. While none are taken, any number fits. */
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
