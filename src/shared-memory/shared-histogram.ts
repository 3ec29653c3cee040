/** Upper bounds of durations, in seconds: from a read in memory to a client that waits for a disk. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
]

/** What a histogram has counted so far. */
export interface HistogramFigures {
  /** The upper bound of each bucket but the last, which has none. */
  readonly bounds: readonly number[]
  /** The number of values in each bucket. */
  readonly counts: readonly number[]
  readonly sum: number
}

/**
 * A histogram that one thread updates and all can read. An update costs no atomic operation, so a reader may see it half
 * done: in the count, but not yet in the sum.
 */
export class SharedHistogram {
  readonly memory: SharedArrayBuffer
  readonly #bounds: readonly number[]
  /** The sum, then the count of each bucket: doubles, which are exact integers for longer than a process can run. */
  readonly #cells: Float64Array

  /**
   * @param bounds the upper bounds of the buckets, in ascending order
   * @param memory of several histograms with the same bounds; by default, of this one alone
   * @param index of this histogram in the memory
   */
  constructor(bounds: readonly number[], memory = SharedHistogram.allocate(bounds), index = 0) {
    this.memory = memory
    this.#bounds = bounds
    const length = bounds.length + 2
    this.#cells = new Float64Array(memory, index * length * Float64Array.BYTES_PER_ELEMENT, length)
  }

  /** Memory for several histograms with the same bounds. The system provides it only when it is written to. */
  static allocate({ length }: readonly number[], count = 1): SharedArrayBuffer {
    return new SharedArrayBuffer(count * (length + 2) * Float64Array.BYTES_PER_ELEMENT)
  }

  /** The histograms in such memory that have counted anything, with their indexes. */
  static *readAll(
    bounds: readonly number[],
    memory: SharedArrayBuffer,
  ): Generator<[index: number, figures: HistogramFigures]> {
    const cells = new Float64Array(memory)
    const length = bounds.length + 2
    for (let start = 0; start < cells.length; start += length) {
      let isUsed = false
      for (let bucket = start + 1; bucket < start + length; bucket++) isUsed ||= cells[bucket] !== 0
      if (!isUsed) continue
      const index = start / length
      yield [index, new SharedHistogram(bounds, memory, index).read()]
    }
  }

  /** Counts a value. Only one thread may call it. */
  add(value: number): void {
    const bounds = this.#bounds
    const cells = this.#cells
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    cells[0] = (cells[0] as number) + value
    cells[bucket + 1] = (cells[bucket + 1] as number) + 1
  }

  read(): HistogramFigures {
    const [sum = 0, ...counts] = this.#cells
    return { bounds: this.#bounds, counts, sum }
  }
}
