import { SharedCounter } from '../shared-memory/shared-counter.ts'

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
  readonly #held: SharedCounter

  /** @param held the bytes taken by all threads that share the budget */
  constructor(max: number, held = new SharedCounter()) {
    this.#max = max
    this.#held = held
  }

  /** Takes bytes and returns whether they fit. While none are taken, any number fits. */
  take(bytes: number): boolean {
    return this.#held.addIf((held) => held === 0 || held + bytes <= this.#max, bytes)
  }

  /** Returns bytes that were taken. */
  release(bytes: number): void {
    this.#held.add(-bytes)
  }
}
