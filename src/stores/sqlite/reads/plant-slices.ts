import type { Database } from 'better-sqlite3'
import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import { known } from '../../../../core/known.ts'
import type { PlantFilter } from '../../../../service/store/plant-filter.ts'
import { SEARCH_MAX } from '../../../../service/store/plant-store.ts'
import { forTag, tagsOf } from '../../shared/by-tag.ts'
import { TEXT_BYTES } from './plant-json.ts'

const buildMeasure = (condition: string) => `
  SELECT count(*) AS plants, sum(bytes) AS bytes, max(id) AS last
  FROM (SELECT id, ${TEXT_BYTES} AS bytes
        FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT ? + 0)`

export const MEASURE = buildMeasure('')
export const MEASURE_OF_TAG = buildMeasure('tag = +? AND')

/** How many plants are examined at once, because each can be in a page of its own of the file. */
export const SLICE_MAX = 1000

/** A range of consecutive plants, which can be empty. */
export interface Slice {
  readonly from: bigint
  readonly to: bigint
  /** The greatest id if more plants can follow. */
  readonly next: bigint | undefined
}

/**
 * Prepares a function that finds the slices that follow an id, without reading large plants. They contain the plants
 * with the tag, or all plants to select those without a tag, because no index has them. Not more than SEARCH_MAX in all,
 * unless a single plant is larger.
 */
export function prepareSlices(
  db: Database,
): (tag: PlantFilter['tag'], after: bigint | undefined) => Generator<Slice, void> {
  const any = db.prepare<unknown[], SliceRow>(MEASURE)
  const statements = { any, one: db.prepare<unknown[], SliceRow>(MEASURE_OF_TAG), none: any }

  return function* (tag, after) {
    const statement = forTag(tag, statements)
    let { plants: plantsLeft, bytes: bytesLeft } = SEARCH_MAX
    let least = 1
    let from = firstAfter(after)
    while (from !== undefined && plantsLeft > 0) {
      const wanted = Math.min(plantsLeft, SLICE_MAX)
      const row = known(statement.get(...tagsOf(tag), from, wanted))
      const [plants, bytes] = [Number(row.plants), Number(row.bytes)]
      if (bytes > bytesLeft && plants > least) {
        // As many as there would be if all had the same size.
        plantsLeft = Math.max(least, Math.trunc((plants * bytesLeft) / bytes))
        continue
      }
      const next = plants < wanted ? undefined : (row.last ?? undefined)
      yield { from, to: row.last ?? from, next }
      if (next === undefined) return
      from = firstAfter(next)
      plantsLeft -= plants
      bytesLeft -= bytes
      least = 0
    }
  }
}

/** The first id that can follow another. */
export function firstAfter(id: bigint | undefined): bigint | undefined {
  if (id === undefined) return INT64_MIN
  return id === INT64_MAX ? undefined : id + 1n
}

interface SliceRow {
  readonly plants: bigint
  readonly bytes: bigint | null
  readonly last: bigint | null
}
