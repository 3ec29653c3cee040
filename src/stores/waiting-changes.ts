import { SharedCounter } from '../shared-memory/shared-counter.ts'

/** The size of one or more changes. */
export interface Size {
  readonly changes: number
  /** In UTF-16 units. */
  readonly text: number
}

/** The limit of all waiting changes. Beyond it, the store is busy. */
const WAITING_MAX: Size = { changes: 10_000, text: 2 ** 26 }

/** The total size of the waiting changes, which threads can share. */
export class WaitingChanges {
  readonly #changes: SharedCounter
  readonly #text: SharedCounter

  constructor({ changes, text }: Partial<WaitingMemory> = {}) {
    this.#changes = new SharedCounter(changes)
    this.#text = new SharedCounter(text)
  }

  /** What another thread needs to count the same changes. */
  get memory(): WaitingMemory {
    return { changes: this.#changes.memory, text: this.#text.memory }
  }

  /** Counts a change, unless the limit has been reached. Returns whether it was counted. */
  add(text: number): boolean {
    if (!this.#changes.addIf((changes) => changes < WAITING_MAX.changes, 1)) return false
    // The sum fits into 32 bits, because a body has at most 2^30 bytes.
    if (this.#text.addIf((text) => text < WAITING_MAX.text, text)) return true
    this.#changes.add(-1)
    return false
  }

  remove(changes: readonly Pick<Size, 'text'>[]): void {
    this.#changes.add(-changes.length)
    this.#text.add(-changes.reduce((sum, { text }) => sum + text, 0))
  }

  toString(): string {
    return `${this.#changes.value} changes with ${this.#text.value} characters`
  }
}

/** The memory of the counters. */
export interface WaitingMemory {
  readonly changes: SharedArrayBuffer
  readonly text: SharedArrayBuffer
}
