import { textLength } from '../../model/members.ts'
import type { Item } from './comparison.ts'

/** Large plants fill a batch sooner, so that few of them are in memory. */
const BATCH_LENGTH = 2 ** 20

/** Records that are sent together. */
export class Batch<Each extends Item> {
  readonly items = new Map<bigint, Each>()
  #length = 0
  readonly #itemsMax: number

  constructor(itemsMax: number) {
    this.#itemsMax = itemsMax
  }

  get isFull(): boolean {
    return this.items.size === this.#itemsMax || this.#length >= BATCH_LENGTH
  }

  add(item: Each): void {
    this.items.set(item.plant.id, item)
    this.#length += textLength(item.plant)
  }

  /** Empties it. */
  take(): readonly Each[] {
    const items = [...this.items.values()]
    this.items.clear()
    this.#length = 0
    return items
  }
}
