import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus'

/** Skipped outputs, so that neighboring streams are not correlated. */
const SKIPPED = 10

/** Pseudo-random choices that are the same for the same seed and stream. */
export class Random {
  readonly #generator

  /** @param stream selects one of the sequences of a seed; both are 32-bit integers */
  constructor(seed: number, stream: number) {
    const state = [seed, stream, ~seed, Math.imul(stream, 0x9e3779b9)]
    this.#generator = xoroshiro128plusFromState(state)
    for (let index = 0; index < SKIPPED; index++) this.#generator.next()
  }

  /** An integer in the range [0, limit). */
  below(limit: number): number {
    return limit <= 1 ? 0 : uniformInt(this.#generator, 0, limit - 1)
  }

  /** True with a probability of 1 in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, rank: this.below(2 ** 30) }))
      .toSorted((one, other) => one.rank - other.rank)
      .map(({ item }) => item)
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
