import { setTimeout as delay } from 'node:timers/promises'
import { type ByteBudget, SMALL_MESSAGE_BYTES } from './byte-budget.ts'

/** How long to wait before the next attempt to get bytes of a budget that is used up. */
const RETRY_MS = 100

/** The bytes of a budget that one stream holds. Small chunks need none. */
export class Reservation {
  readonly #budget: ByteBudget
  #held = 0

  constructor(budget: ByteBudget) {
    this.#budget = budget
  }

  /** Holds as many bytes as a chunk needs. Returns false if they do not fit, and then holds none. */
  resize(chunkBytes: number): boolean {
    const bytes = chunkBytes > SMALL_MESSAGE_BYTES ? chunkBytes : 0
    const fits = bytes <= this.#held || this.#budget.take(bytes - this.#held)
    // Releases all of them, because streams that keep some could wait for each other.
    if (fits) this.#budget.release(Math.max(this.#held - bytes, 0))
    else this.#budget.release(this.#held)
    this.#held = fits ? bytes : 0
    return fits
  }

  /** Waits until the bytes fit, and holds them. Resolves to false if the signal aborts first. */
  async wait(chunkBytes: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !this.resize(chunkBytes)) {
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
    return !signal.aborted
  }
}
