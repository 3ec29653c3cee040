import type { Plant, StoredPlant } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { hasSameContent, textLength } from '../model/current-members.ts'
import { type Filter, isSearch, type ListQuery, matches } from './filter.ts'
import { idBefore } from './plant-id.ts'
import { type Place, PlantOrder } from './plant-order.ts'

/** How many plants a request fetches. */
export const PAGE_SIZE = 200

/** Plants further than this from the visible rows, in rows, are forgotten, and fetched again when they come into view. */
const KEPT_ROWS = 1000

/** With more characters than this in memory, only the plants near the visible rows are kept. */
const CHARACTERS_MAX = 20_000_000

/** The places of how many plants that have left the list are remembered, such as that of the one with the focus. */
const LEFT_MAX = 1000

/** Firefox cannot show an element that is higher than about 17 million pixels. */
const ROWS_MAX = 200_000

/** The plants that follow the place `after`, up to `end`. */
export interface Range {
  readonly after: Place | undefined
  end: Place
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

/** The rows of a table that can be longer than memory: consecutive ranges of places, of which those in view have their plants. */
export class PlantList {
  readonly filter: Filter
  readonly order: PlantOrder
  /** Whether the last row is the last plant that the filter selects. */
  isComplete = false
  #first: bigint | undefined
  /** The place before the list. */
  #start: Place | undefined
  readonly #rowsMax: number
  #ranges: Range[] = []
  /** Where plants were that have left the list, unless their ids tell. */
  readonly #left = new Map<bigint, Place>()

  /** @param first the smallest id in the list, in the order by id */
  constructor({ filter, sort, first }: ListQuery, rowsMax = ROWS_MAX) {
    this.filter = filter
    this.order = new PlantOrder(sort)
    this.#first = first
    const before = first === undefined ? undefined : idBefore(first)
    if (before !== undefined) this.#start = { id: before, key: '' }
    this.#rowsMax = rowsMax
  }

  /** The smallest id that can be in the list. Undefined if the list has no beginning, or another order. */
  get first(): bigint | undefined {
    return this.#first
  }

  /** Whether there may be plants before the first row. */
  get isCut(): boolean {
    return this.#first !== undefined || this.#start !== undefined
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
  get end(): Place | undefined {
    return this.#ranges.at(-1)?.end ?? this.#start
  }

  /** The plants of some rows. Undefined for those that are not in memory. */
  slice(from: number, to: number): (StoredPlant | undefined)[] {
    return this.#overlapping(from, to).flatMap(({ range, row }) => {
      const [start, end] = [Math.max(from - row, 0), Math.min(to - row, range.count)]
      return range.plants?.slice(start, end) ?? new Array<undefined>(end - start).fill(undefined)
    })
  }

  /** The number of rows before that of an id, whether or not the list has it. Zero if its place is not known. */
  rank(id: bigint): number {
    const place = this.#placeOf(id)
    return place === undefined ? 0 : this.#rankOf(place)
  }

  /** The number of rows before the place of a plant, whether or not it is still there. */
  rankOf(plant: StoredPlant): number {
    return this.#rankOf(this.order.placeOf(plant))
  }

  #rankOf(place: Place): number {
    let row = 0
    for (const { end, count, plants } of this.#ranges) {
      if (this.order.compare(place, end) <= 0) return row + this.#countBefore(plants, place)
      row += count
    }
    return row
  }

  /** Whether the list has all plants from one id to another, which follows it, in an order by id. */
  covers(first: bigint, last: bigint): boolean {
    const [from, to] = [first, last].map((id) => ({ id, key: '' })) as [Place, Place]
    const { end, order } = this
    if (this.#start !== undefined && order.compare(from, this.#start) <= 0) return false
    return this.isComplete || (end !== undefined && order.compare(to, end) <= 0)
  }

  /** A plant that is in the list and in memory. */
  find(id: bigint): StoredPlant | undefined {
    if (!this.order.isById) {
      for (const { plants } of this.#ranges) {
        const plant = plants?.find((each) => each.id === id)
        if (plant !== undefined) return plant
      }
      return undefined
    }
    const place = { id, key: '' }
    const { plants } = this.#rangeOf(place) ?? {}
    const plant = plants?.[this.#countBefore(plants, place)]
    return plant?.id === id ? plant : undefined
  }

  #placeOf(id: bigint): Place | undefined {
    if (this.order.isById) return { id, key: '' }
    const plant = this.find(id)
    return plant === undefined ? this.#left.get(id) : this.order.placeOf(plant)
  }

  /** How many of some consecutive plants precede a place. */
  #countBefore(plants: readonly StoredPlant[] = [], place: Place, canBeEqual = false): number {
    let [low, high] = [0, plants.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const order = this.order.compare(this.order.placeOf(known(plants[middle])), place)
      if (order < 0 || (canBeEqual && order === 0)) low = middle + 1
      else high = middle
    }
    return low
  }

  #countUpTo(plants: readonly StoredPlant[], place: Place): number {
    return this.#countBefore(plants, place, true)
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
    const split = end === undefined ? 0 : this.#countUpTo(plants, end)
    for (const plant of plants.slice(0, split)) this.apply({ id: plant.id, plant })
    this.#extend(plants.slice(split))
    this.isComplete = isLast
    this.#trim()
  }

  #extend(plants: readonly StoredPlant[]): void {
    const lastPlant = plants.at(-1)
    if (lastPlant === undefined) return
    const end = this.order.placeOf(lastPlant)
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

  /** Keeps the table below the height that browsers can show: the list then begins later. */
  #trim(): void {
    if (this.length <= this.#rowsMax) return
    while (this.length > this.#rowsMax / 2 && this.#ranges.length > 1) this.#ranges.shift()
    this.#start = this.#ranges[0]?.after
    if (this.#start !== undefined && this.order.sort === undefined)
      this.#first = this.#start.id + 1n
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
    const inRange = plants.slice(0, this.#countUpTo(plants, range.end))
    const last = plants.at(-1)
    const reached = last && this.order.placeOf(last)
    const rest: Range[] = []
    if (!isLast && reached !== undefined && this.order.compare(reached, range.end) < 0) {
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
    const ranges = new Set([...near, ...kept.map((id) => this.#rangeWith(id))])
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
    if (plant === undefined || !matches(plant, this.filter)) return this.#remove(id)
    const stored = { ...plant, id }
    if (this.order.isById) return this.#put(stored)
    const hasLeft = this.#leave(id, this.order.placeOf(stored))
    const effect = this.#put(stored)
    if (!hasLeft) return effect
    return effect === 'none' ? 'removed' : 'changed'
  }

  /**
   * Removes a plant from where it was.
   *
   * @param place where it is now
   * @returns whether it was in the list, elsewhere
   */
  #leave(id: bigint, place?: Place): boolean {
    let hasLeft = false
    for (const range of this.#ranges) {
      const { plants } = range
      // It may have been there.
      if (plants === undefined) range.isStale = true
      const index = plants?.findIndex((each) => each.id === id && !this.#isAt(each, place)) ?? -1
      const [plant] = index < 0 ? [] : (plants?.splice(index, 1) ?? [])
      if (plant === undefined) continue
      range.count -= 1
      this.#left.set(id, this.order.placeOf(plant))
      hasLeft = true
    }
    for (const [oldest] of this.#left) {
      if (this.#left.size > LEFT_MAX) this.#left.delete(oldest)
    }
    return hasLeft
  }

  #isAt(plant: StoredPlant, place: Place | undefined): boolean {
    return place !== undefined && this.order.compare(this.order.placeOf(plant), place) === 0
  }

  #put(plant: StoredPlant): Effect {
    const place = this.order.placeOf(plant)
    if (this.#start !== undefined && this.order.compare(place, this.#start) <= 0) return 'none'
    const range = this.#rangeOf(place)
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
    const index = this.#countBefore(plants, place)
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
    const middle = this.order.placeOf(known(half.at(-1)))
    this.#ranges.splice(
      this.#ranges.indexOf(range),
      1,
      { ...range, end: middle, count: half.length, plants: half },
      { ...range, after: middle, count: rest.length, plants: rest },
    )
  }

  #remove(id: bigint): Effect {
    if (!this.order.isById) return this.#leave(id) ? 'removed' : 'none'
    const range = this.#rangeWith(id)
    if (range === undefined) return 'none'
    const { plants } = range
    if (plants === undefined) range.isStale = true
    if (plants === undefined || this.find(id) === undefined) return 'none'
    plants.splice(this.#countBefore(plants, { id, key: '' }), 1)
    range.count = plants.length
    return 'removed'
  }

  #rangeWith(id: bigint): Range | undefined {
    const place = this.#placeOf(id)
    return place && this.#rangeOf(place)
  }

  #rangeOf(place: Place): Range | undefined {
    return this.#ranges.find(({ end }) => this.order.compare(place, end) <= 0)
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
