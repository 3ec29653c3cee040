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

/** The limit of all waiting changes of a process. Beyond it, the store is busy. */
const WAITING_MAX: Size = { changes: 10_000, text: 2 ** 26 }

/** The part of the limit that batches leave to other changes. Otherwise one client with a dozen connections could lock out all others. */
const RESERVED_PART = 0.2

/** The least limit of a thread: two of the largest batches, and room for other changes. */
const CHANGES_MIN = 2500

/** The total size of the waiting changes of one thread. */
export class WaitingChanges {
  readonly #max: Size
  #changes = 0
  #text = 0

  /** @param threads how many threads share the limit, which is divided by their number */
  constructor(threads = 1) {
    this.#max = {
      changes: Math.max(WAITING_MAX.changes / threads, CHANGES_MIN),
      text: WAITING_MAX.text / threads,
    }
  }

  /** The number of changes. */
  get count(): number {
    return this.#changes
  }

  /** Counts one or more changes, unless that would exceed the limit. Returns whether they were counted. */
  add({ changes, text }: Size): boolean {
    const part = changes > 1 ? 1 - RESERVED_PART : 1
    if (this.#changes + changes > this.#max.changes * part) return false
    if (this.#text >= this.#max.text) return false
    this.#changes += changes
    this.#text += text
    return true
  }

  remove({ changes, text }: Size): void {
    this.#changes -= changes
    this.#text -= text
  }

  toString(): string {
    return `${this.#changes} changes with ${this.#text} characters`
  }
}
