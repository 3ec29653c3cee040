import type { Change } from '../../service/change-feed.ts'
import { textLength } from '../../service/plant-content.ts'

/** In characters. A delivery takes about five times as much memory as its text. */
const TEXT_MAX = 2 ** 24

/** Pages of up to this size count as empty, so that the usual changes are delivered while large ones wait. */
const SMALL_TEXT = 2 ** 14

/** Limits the text of the changes that the deliveries of all webhooks hold in memory. */
export class ChangeMemory {
  readonly #max: number
  #held = 0

  constructor(max = TEXT_MAX) {
    this.#max = max
  }

  /** Whether there is room for another page of changes. */
  get hasRoom(): boolean {
    return this.#held < this.#max
  }

  /** Holds changes while they are delivered. Returns a function that releases them, or undefined if there is no room. */
  hold(changes: readonly Change[]): (() => void) | undefined {
    const length = changes.reduce((sum, { plant = {} }) => sum + textLength(plant), 0)
    const held = length > SMALL_TEXT ? length : 0
    if (held > 0 && !this.hasRoom) return undefined
    this.#held += held
    return () => {
      this.#held -= held
    }
  }
}
