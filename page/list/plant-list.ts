import type { Plant, StoredPlant } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { hasSameContent, textLength } from '../model/current-members.ts'
import { type Filter, isSearch, matches } from './filter.ts'
import { idBefore } from './plant-id.ts'

/** How many plants a request fetches. */
export const PAGE_SIZE = 200

/** Plants further than this from the visible rows, in rows, are forgotten, and fetched again when they come into view. */
const KEPT_ROWS = 1000

/** With more characters than this in memory, only the plants near the visible rows are kept. */
const CHARACTERS_MAX = 20_000_000

/** Firefox cannot show an element that is higher than about 17 million pixels. */
const ROWS_MAX = 200_000

/** The plants whose ids are greater than `after` and at most `end`. */
export interface Range {
  readonly after: bigint | undefined
  end: bigint
  /** An estimate unless there are `plants`. */
  count: number
  /** Whether its plants have changed, or may have, since they were forgotten. */
  isStale: boolean
  plants: StoredPlant[] | undefined
}

/** A plant, or that there is none with this id. */
export interface PlantState {
  readonly id: bigint
  readonly plant?: Plant | undefined
}

/** What a change did to the list. */
export type Effect = 'added' | 'changed' | 'removed' | 'none'

/** The rows of a table that can be longer than memory: consecutive ranges of ids, of which those in view have their plants. */
export class PlantList {
  readonly filter: Filter
  /** Whether the last row is the last plant that the filter selects. */
  isComplete = false
  #first: bigint | undefined
  readonly #rowsMax: number
  #ranges: Range[] = []

  /** @param first the smallest id in the list */
  constructor(filter: Filter, first?: bigint, rowsMax = ROWS_MAX) {
    this.filter = filter
    this.#first = first
    this.#rowsMax = rowsMax
  }

  /** The smallest id that can be in the list. Undefined if the list has no beginning. */
  get first(): bigint | undefined {
    return this.#first
  }

  /** Whether the length is exact. Otherwise, plants that are not in memory have changed. */
  get isExact(): boolean {
    return this.#ranges.every(({ isStale }) => !isStale)
  }

  /** The number of rows. */
  get length(): number {
    return this.#ranges.reduce((length, { count }) => length + count, 0)
  }

  /** The position after which to fetch more plants. */
  get end(): bigint | undefined {
    return this.#ranges.at(-1)?.end ?? this.#start
  }

  get #start(): bigint | undefined {
    return this.#first === undefined ? undefined : idBefore(this.#first)
  }

  /** The plants of some rows. Undefined for those that are not in memory. */
  slice(from: number, to: number): (StoredPlant | undefined)[] {
    return this.#overlapping(from, to).flatMap(({ range, row }) => {
      const [start, end] = [Math.max(from - row, 0), Math.min(to - row, range.count)]
      return range.plants?.slice(start, end) ?? new Array<undefined>(end - start).fill(undefined)
    })
  }

  /** The number of rows before that of an id, whether or not the list has it. */
  rank(id: bigint): number {
    let row = 0
    for (const { end, count, plants } of this.#ranges) {
      if (id <= end) return row + (plants === undefined ? 0 : lowerBound(plants, id))
      row += count
    }
    return row
  }

  /** A plant that is in the list and in memory. */
  find(id: bigint): StoredPlant | undefined {
    const { plants = [] } = this.#rangeOf(id) ?? {}
    const plant = plants[lowerBound(plants, id)]
    return plant?.id === id ? plant : undefined
  }

  /** The first range of some rows whose plants are not in memory. */
  missing(from: number, to: number): Range | undefined {
    return this.#overlapping(from, to).find(({ range }) => range.plants === undefined)?.range
  }

  /**
   * Adds the plants that follow the last ones.
   *
   * @param isLast whether no others follow
   */
  append(plants: readonly StoredPlant[], isLast: boolean): void {
    const end = this.#ranges.at(-1)?.end
    // A search reports changes beyond the point it has reached.
    const split = end === undefined ? 0 : lowerBound(plants, end + 1n)
    for (const plant of plants.slice(0, split)) this.apply({ id: plant.id, plant })
    this.#extend(plants.slice(split))
    this.isComplete = isLast
    this.#trim()
  }

  #extend(plants: readonly StoredPlant[]): void {
    const end = plants.at(-1)?.id
    if (end === undefined) return
    const last = this.#ranges.at(-1)
    if (last?.plants !== undefined && last.count + plants.length <= PAGE_SIZE) {
      last.plants.push(...plants)
      last.count += plants.length
      last.end = end
    } else {
      this.#ranges.push({
        after: this.end,
        end,
        count: plants.length,
        isStale: false,
        plants: [...plants],
      })
    }
  }

  /** Keeps the table below the height that browsers can show: the list then begins with a later id. */
  #trim(): void {
    if (this.length <= this.#rowsMax) return
    while (this.length > this.#rowsMax / 2 && this.#ranges.length > 1) this.#ranges.shift()
    const after = this.#ranges[0]?.after
    if (after !== undefined) this.#first = after + 1n
  }

  /**
   * Adds the plants of a range that had been forgotten.
   *
   * @param plants the first ones of the range, possibly followed by others
   * @param isLast whether no plants follow these
   */
  fill(range: Range, plants: readonly StoredPlant[], isLast: boolean): void {
    const index = this.#ranges.indexOf(range)
    if (index < 0) return
    const inRange = plants.slice(0, lowerBound(plants, range.end + 1n))
    const reached = plants.at(-1)?.id
    const rest: Range[] = []
    if (!isLast && reached !== undefined && reached < range.end) {
      const count = Math.max(1, range.count - inRange.length)
      rest.push({ after: reached, end: range.end, count, isStale: true, plants: undefined })
      range.end = reached
    }
    range.plants = inRange
    range.count = inRange.length
    range.isStale = false
    this.#ranges.splice(index + 1, 0, ...rest)
  }

  /**
   * Forgets the plants that are far from some rows.
   *
   * @param kept ids of plants to keep, wherever they are
   */
  forget(from: number, to: number, kept: readonly bigint[] = []): void {
    const margin = this.#characters > CHARACTERS_MAX ? 0 : KEPT_ROWS
    const near = this.#overlapping(from - margin, to + margin).map(({ range }) => range)
    const ranges = new Set([...near, ...kept.map((id) => this.#rangeOf(id))])
    for (const range of this.#ranges) {
      // Without rows, a range would never come into view to be fetched again.
      if (!ranges.has(range) && range.count > 0) range.plants = undefined
    }
  }

  /** The length of the text of all plants in memory. */
  get #characters(): number {
    const plants = this.#ranges.flatMap(({ plants = [] }) => plants)
    return plants.reduce((sum, plant) => sum + lengthOf(plant), 0)
  }

  /** Forgets all plants, but not how many there are, because changes may have been missed. */
  invalidate(): void {
    let after = this.#start
    this.isComplete = false
    this.#ranges = this.#ranges
      .filter(({ count }) => count > 0)
      .map(({ end, count }) => {
        const range = { after, end, count, isStale: true, plants: undefined }
        after = end
        return range
      })
  }

  /** Applies a change as if the plants were fetched again. Plants that are not in memory are not counted again. */
  apply({ id, plant }: PlantState): Effect {
    const isSelected = plant !== undefined && matches(plant, this.filter)
    return isSelected ? this.#put({ ...plant, id }) : this.#remove(id)
  }

  #put(plant: StoredPlant): Effect {
    if (this.#first !== undefined && plant.id < this.#first) return 'none'
    const range = this.#rangeOf(plant.id)
    if (range === undefined) {
      // A search has examined more plants than it has found.
      if (!this.isComplete && !isSearch(this.filter)) return 'none'
      this.#extend([plant])
      return 'added'
    }
    const { plants } = range
    if (plants === undefined) {
      range.isStale = true
      return 'none'
    }
    const index = lowerBound(plants, plant.id)
    const current = plants[index]
    const isKnown = current?.id === plant.id
    if (isKnown && hasSameContent(current, plant)) return 'none'
    plants.splice(index, isKnown ? 1 : 0, plant)
    range.count = plants.length
    if (plants.length > 2 * PAGE_SIZE) this.#split(range, plants)
    return isKnown ? 'changed' : 'added'
  }

  /** Keeps ranges small, because one that comes into view is fetched with one request. */
  #split(range: Range, plants: readonly StoredPlant[]): void {
    const half = plants.slice(0, PAGE_SIZE)
    const rest = plants.slice(PAGE_SIZE)
    const { id: middle } = known(half.at(-1))
    this.#ranges.splice(
      this.#ranges.indexOf(range),
      1,
      { ...range, end: middle, count: half.length, plants: half },
      { ...range, after: middle, count: rest.length, plants: rest },
    )
  }

  #remove(id: bigint): Effect {
    const range = this.#rangeOf(id)
    if (range === undefined) return 'none'
    const { plants } = range
    if (plants === undefined) range.isStale = true
    if (plants === undefined || this.find(id) === undefined) return 'none'
    plants.splice(lowerBound(plants, id), 1)
    range.count = plants.length
    return 'removed'
  }

  #rangeOf(id: bigint): Range | undefined {
    return this.#ranges.find(({ end }) => id <= end)
  }

  /** The ranges with some of these rows, each with its first row. */
  #overlapping(from: number, to: number): { readonly range: Range; readonly row: number }[] {
    const found = []
    let row = 0
    for (const range of this.#ranges) {
      if (row >= to) break
      if (row + range.count > from) found.push({ range, row })
      row += range.count
    }
    return found
  }
}

/** The length of the text of plants, which would take long to count again whenever the table is scrolled. */
const lengths = new WeakMap<StoredPlant, number>()

function lengthOf(plant: StoredPlant): number {
  const length = lengths.get(plant) ?? textLength(plant)
  lengths.set(plant, length)
  return length
}

/** The index of the first plant whose id is not less. */
function lowerBound(plants: readonly StoredPlant[], id: bigint): number {
  let [low, high] = [0, plants.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (known(plants[middle]).id < id) low = middle + 1
    else high = middle
  }
  return low
}
