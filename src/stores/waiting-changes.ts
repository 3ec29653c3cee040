import { SharedCounter } from '../shared-memory/shared-counter.ts'

/** The size of one or more changes. */
export interface Size {
  /** A batch counts as its number of plants. */
  readonly changes: number
  /** In UTF-16 units. */
  readonly text: number
}

/** The sum of several sizes. */
export function sumSizes(sizes: Iterable<Size>): Size {
  let changes = 0
  let text = 0
  for (const size of sizes) {
    changes += size.changes
    text += size.text
  }
  return { changes, text }
}

/** The limit of all waiting changes. Beyond it, the store is busy. */
const WAITING_MAX: Size = { changes: 10_000, text: 2 ** 26 }

/** Batches leave room for this many other changes. Otherwise one client with a dozen connections could lock out all others. */
const RESERVED_CHANGES = 2000

/** The total size of the waiting changes, which threads can share. */
export class WaitingChanges {
  readonly #changes: SharedCounter
  readonly #text: SharedCounter

  constructor({ changes, text }: Partial<WaitingMemory> = {}) {
    this.#changes = new SharedCounter(changes)
    this.#text = new SharedCounter(text)
  }

  /** The number of changes. */
  get count(): number {
    return this.#changes.value
  }

  /** What another thread needs to count the same changes. */
  get memory(): WaitingMemory {
    return { changes: this.#changes.memory, text: this.#text.memory }
  }

  /** Counts one or more changes, unless that would exceed the limit. Returns whether they were counted. */
  add({ changes, text }: Size): boolean {
    const max = changes > 1 ? WAITING_MAX.changes - RESERVED_CHANGES : WAITING_MAX.changes
    if (!this.#changes.addIf((waiting) => waiting + changes <= max, changes)) return false
    // The sum fits into 32 bits, because a body has at most 2^30 bytes.
    if (this.#text.addIf((waiting) => waiting < WAITING_MAX.text, text)) return true
    this.#changes.add(-changes)
    return false
  }

  remove({ changes, text }: Size): void {
    this.#changes.add(-changes)
    this.#text.add(-text)
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
