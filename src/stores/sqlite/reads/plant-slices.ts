import type { Database } from 'better-sqlite3'
import { INT64_MAX, INT64_MIN } from '../../../../contract/int64.ts'
import { known } from '../../../../contract/known.ts'
import type { PlantFilter, SEARCH_MAX } from '../../../../service/plant-store.ts'
import { forTag, tagsOf } from '../../shared/by-tag.ts'
import { TEXT_BYTES } from './plant-json.ts'

/** How much is examined at once, unless one plant is larger. Takes a fraction of a millisecond. */
export const SLICE_MAX = { plants: 1000, bytes: 2 ** 16 }

const buildMeasure = (condition: string) => `
  SELECT count(*) AS plants, sum(bytes) AS bytes, max(id) AS last
  FROM (SELECT id, ${TEXT_BYTES} AS bytes
        FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT ? + 0)`

export const MEASURE = buildMeasure('')
export const MEASURE_OF_TAG = buildMeasure('tag = +? AND')

/** A range of consecutive plants. */
export interface Slice {
  readonly plants: number
  readonly bytes: number
  /** The greatest id; undefined if there are no plants. */
  readonly last: bigint | undefined
  /** Whether no plants follow. */
  readonly isLast: boolean
}

/** Reads in a group, and resolves to the result. */
export type Read = <Result>(read: () => Result) => Promise<Result>

/**
 * Examines plants in small slices, between which other requests are served, until there are no more or `max` is reached.
 *
 * @param after the id after which to begin; undefined for the first plant
 * @param examineSlice examines the slice that begins at an id
 * @param isEnough whether to end early, after a slice
 * @returns the last id that was examined; undefined if no plants follow
 */
export async function examine(
  read: Read,
  after: bigint | undefined,
  max: typeof SEARCH_MAX,
  examineSlice: (from: bigint) => Slice,
  isEnough = () => false,
): Promise<bigint | undefined> {
  const examined = { plants: 0, bytes: 0 }
  let last = after
  while (last !== INT64_MAX) {
    const from = last === undefined ? INT64_MIN : last + 1n
    const slice = await read(() => examineSlice(from))
    if (slice.isLast) return undefined
    last = slice.last
    examined.plants += slice.plants
    examined.bytes += slice.bytes
    if (examined.plants >= max.plants || examined.bytes >= max.bytes || isEnough()) break
  }
  return last === INT64_MAX ? undefined : last
}

/**
 * Prepares a function that finds the slice that begins at an id, without reading large plants. It contains the plants
 * with the tag, or all plants to select those without a tag, because no index has them.
 */
export function prepareSlices(db: Database): (tag: PlantFilter['tag'], from: bigint) => Slice {
  const any = db.prepare<unknown[], SliceRow>(MEASURE)
  const statements = { any, one: db.prepare<unknown[], SliceRow>(MEASURE_OF_TAG), none: any }

  return (tag, from) => {
    const statement = forTag(tag, statements)
    const measure = (plants: number) =>
      toSlice(known(statement.get(...tagsOf(tag), from, plants)), plants)
    let slice = measure(SLICE_MAX.plants)
    while (slice.bytes > SLICE_MAX.bytes && slice.plants > 1) {
      // As many as there would be if all had the same size.
      slice = measure(Math.max(1, Math.trunc((slice.plants * SLICE_MAX.bytes) / slice.bytes)))
    }
    return slice
  }
}

interface SliceRow {
  readonly plants: bigint
  readonly bytes: bigint | null
  readonly last: bigint | null
}

/** @param wanted how many plants the slice has unless it is the last one */
function toSlice({ plants, bytes, last }: SliceRow, wanted: number): Slice {
  return {
    plants: Number(plants),
    bytes: Number(bytes),
    last: last ?? undefined,
    isLast: plants < wanted,
  }
}
