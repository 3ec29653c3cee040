/** Pseudo-random choices that are the same for the same seed and stream (mulberry32). */
export class Random {
  #state: number

  /** @param stream selects one of the sequences of a seed; both are 32-bit integers */
  constructor(seed: number, stream: number) {
    this.#state = seed ^ Math.imul(stream + 1, 0x9e3779b9)
  }

  /** An integer in the range [0, limit). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  /** True with a probability of 1 in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const ranked = items.map((item) => ({ item, rank: this.below(2 ** 32) }))
    return ranked.toSorted((one, other) => one.rank - other.rank).map(({ item }) => item)
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
