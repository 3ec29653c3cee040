import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import { plantJson, textLength } from '../../../../service/store/plant-content.ts'
import { readsText } from '../../../../service/store/plant-filter.ts'
import { toMatch } from '../../../../service/store/plant-match.ts'
import {
  PAGE_TEXT_MAX,
  SEARCH_MAX,
  type SortedPage,
  type SortedRequest,
} from '../../../../service/store/plant-store.ts'
import { type KeyRange, type SortPlace, sortKey } from '../../../../service/store/sort-index.ts'
import { type PlantRow, pageOf } from '../rows.ts'

/** How many plants without stored keys a read can sort, and how much text they can have, not counting the largest. */
export const UNSORTED_MAX = { plants: 1000, text: 2 ** 19 }

/** A stored key, and the plant. */
export interface KeyRow extends Omit<PlantRow, 'name'> {
  readonly key: Buffer
  /** Null if the plant was not read with its key. */
  readonly name: string | null
}

/** Plants whose stored keys do not count, by id; undefined if they were removed. */
export type UnsortedPlants = ReadonlyMap<bigint, PlantRow | undefined>

/** The places from the first to the last one, inclusive. */
interface PlaceRange {
  readonly first: SortPlace
  readonly last: SortPlace
}

/** Some plants of a range, as they were at one moment. */
interface SortedRead {
  readonly places: PlaceRange
  /** The first keys between these places, in the order of the request. */
  readonly rows: readonly KeyRow[]
  /** Whether there are no more. */
  readonly isEnd: boolean
  readonly unsorted: UnsortedPlants
  /** Reads a plant that was not read with its key. Undefined if there is none. */
  readonly find?: (id: bigint) => PlantRow | undefined
}

/** Longer than any key. */
const LAST_BYTES = Buffer.alloc(1024, 0xff)

/** The places of a range that follow a place; undefined if there are none. */
export function placesAfter(
  { first, last }: KeyRange,
  isDescending: boolean,
  after: SortPlace | undefined,
): PlaceRange | undefined {
  const all = { first: { key: first, id: INT64_MIN }, last: { key: last, id: INT64_MAX } }
  if (after === undefined) return all
  // In both directions, plants without a value follow all others.
  if (hasValue(after) !== hasValue(all.last)) return hasValue(after) ? all : undefined
  const rest = isDescending
    ? { ...all, last: placeBefore(after) }
    : { ...all, first: placeAfter(after) }
  const places = { first: later(all.first, rest.first), last: earlier(all.last, rest.last) }
  return comparePlaces(places.first, places.last) > 0 ? undefined : places
}

function hasValue({ key }: SortPlace): boolean {
  return key.length > 0
}

function placeAfter({ key, id }: SortPlace): SortPlace {
  if (id < INT64_MAX) return { key, id: id + 1n }
  return { key: Buffer.concat([key, Buffer.of(0)]), id: INT64_MIN }
}

function placeBefore({ key, id }: SortPlace): SortPlace {
  const end = key.at(-1)
  if (id > INT64_MIN || end === undefined) return { key, id: id - 1n }
  const start = key.subarray(0, -1)
  const before = end === 0 ? start : Buffer.concat([start, Buffer.of(end - 1), LAST_BYTES])
  return { key: before, id: INT64_MAX }
}

function comparePlaces(one: SortPlace, other: SortPlace): number {
  return one.key.compare(other.key) || (one.id < other.id ? -1 : Number(one.id > other.id))
}

function later(one: SortPlace, other: SortPlace): SortPlace {
  return comparePlaces(one, other) > 0 ? one : other
}

function earlier(one: SortPlace, other: SortPlace): SortPlace {
  return comparePlaces(one, other) < 0 ? one : other
}

/** Collects the plants of a page from reads of consecutive ranges. */
export class SortedPageBuilder {
  readonly #request: SortedRequest
  readonly #isMatch: ReturnType<typeof toMatch>
  readonly #plants: string[] = []
  #length = 0
  #examined = { plants: 0, text: 0 }
  #last: SortPlace | undefined

  constructor(request: SortedRequest) {
    this.#request = request
    this.#isMatch = toMatch(request)
    this.#last = request.after
  }

  /** Where to go on. */
  get last(): SortPlace | undefined {
    return this.#last
  }

  /** How many more plants the page can need, with one that tells whether more follow. */
  get wanted(): number {
    const { limit, tag } = this.#request
    const isFiltered = tag !== undefined || readsText(this.#request)
    const left = isFiltered
      ? SEARCH_MAX.plants - this.#examined.plants
      : limit - this.#plants.length
    return left + 1
  }

  /** Adds plants in their order until the page is full. Returns the page if it is. */
  add(read: SortedRead): SortedPage | undefined {
    for (const { key, id, row } of this.#merge(read)) {
      if (this.#isFull()) return this.end(this.#last)
      this.#last = { key, id }
      const plant = row()
      if (plant !== undefined) this.#examine(plant)
    }
    return undefined
  }

  end(next?: SortPlace): SortedPage {
    const { json, found } = pageOf(this.#plants)
    return { json, found, next }
  }

  #isFull(): boolean {
    const { plants, text } = this.#examined
    return (
      this.#plants.length === this.#request.limit ||
      this.#length >= PAGE_TEXT_MAX ||
      plants >= SEARCH_MAX.plants ||
      text >= SEARCH_MAX.bytes
    )
  }

  #examine(row: PlantRow): void {
    const { tag } = this.#request
    this.#examined.plants++
    this.#examined.text += textLength(row)
    if (tag !== undefined && tag !== row.tag) return
    if (!this.#isMatch(row.name, row.fields)) return
    const plant = plantJson(row)
    this.#plants.push(plant)
    this.#length += plant.length
  }

  /** The places of a read in their order, up to the last stored one if more follow, with the plant of each. */
  #merge({ places, rows, isEnd, unsorted, find }: SortedRead): readonly PlacedRow[] {
    const stored = rows.map(
      ({ key, ...row }): PlacedRow => ({
        key,
        id: row.id,
        row: () => {
          if (unsorted.has(row.id)) return undefined
          return row.name === null ? find?.(row.id) : (row as PlantRow)
        },
      }),
    )
    if (unsorted.size === 0) return stored
    const { isDescending, member } = this.#request
    const compare = isDescending
      ? (one: SortPlace, other: SortPlace) => comparePlaces(other, one)
      : comparePlaces
    const last = stored.at(-1)
    const others = [...unsorted.values()]
      .filter((row) => row !== undefined)
      .map((row): PlacedRow => ({ key: sortKey(member, row), id: row.id, row: () => row }))
      .filter(
        (row) => comparePlaces(places.first, row) <= 0 && comparePlaces(row, places.last) <= 0,
      )
      .filter((row) => isEnd || last === undefined || compare(row, last) <= 0)
    return [...stored, ...others].sort(compare)
  }
}

/** A place, and the plant there. Undefined if it is elsewhere, or was removed. */
interface PlacedRow extends SortPlace {
  readonly row: () => PlantRow | undefined
}
