import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import { known } from '../../core/known.ts'

/** The ids between two others, both included. */
export interface IdRange {
  readonly from: bigint
  readonly to: bigint
}

/** An immutable set of ids that can be too many to list: sorted ranges that neither overlap nor touch. */
export class IdRanges implements Iterable<IdRange> {
  static readonly NONE = new IdRanges([])
  static readonly ALL = new IdRanges([{ from: INT64_MIN, to: INT64_MAX }])

  readonly #ranges: readonly IdRange[]

  private constructor(ranges: readonly IdRange[]) {
    this.#ranges = ranges
  }

  [Symbol.iterator](): Iterator<IdRange> {
    return this.#ranges.values()
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0
  }

  /** Whether no id is missing. */
  get isAll(): boolean {
    const [first] = this.#ranges
    return first?.from === INT64_MIN && first.to === INT64_MAX
  }

  has(id: bigint): boolean {
    let [low, high] = [0, this.#ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const { from, to } = known(this.#ranges[middle])
      if (id >= from && id <= to) return true
      if (id < from) high = middle
      else low = middle + 1
    }
    return false
  }

  /** The set with the ids from one to another, both included. */
  add(from: bigint, to: bigint): IdRanges {
    const before = this.#ranges.filter((range) => range.to < from - 1n)
    const after = this.#ranges.filter((range) => range.from > to + 1n)
    const joined = this.#ranges.slice(before.length, this.#ranges.length - after.length)
    const start = joined[0]?.from ?? from
    const end = joined.at(-1)?.to ?? to
    const range = { from: start < from ? start : from, to: end > to ? end : to }
    return new IdRanges([...before, range, ...after])
  }

  /** The set without the ids from one to another, both included. */
  remove(from: bigint, to: bigint): IdRanges {
    return new IdRanges(
      this.#ranges.flatMap((range) => {
        if (range.to < from || range.from > to) return [range]
        const rest = [
          { from: range.from, to: from - 1n },
          { from: to + 1n, to: range.to },
        ]
        return rest.filter((each) => each.from <= each.to)
      }),
    )
  }

  /** The ids that are not in the set. */
  get complement(): IdRanges {
    const starts = [INT64_MIN, ...this.#ranges.map(({ to }) => to + 1n)]
    const ends = [...this.#ranges.map(({ from }) => from - 1n), INT64_MAX]
    const gaps = starts.map((from, index) => ({ from, to: known(ends[index]) }))
    return new IdRanges(gaps.filter(({ from, to }) => from <= to))
  }
}
