import type { Database } from 'better-sqlite3'
import { INT64_MAX, INT64_MIN } from '../../../../contract/int64.ts'
import { known } from '../../../../contract/known.ts'
import { type PlantFilter, SEARCH_MAX } from '../../../../service/plant-store.ts'
import { forTag, tagsOf } from '../../shared/by-tag.ts'
import { TEXT_BYTES } from './plant-json.ts'

const buildMeasure = (condition: string) => `
  SELECT count(*) AS plants, sum(bytes) AS bytes, max(id) AS last
  FROM (SELECT id, ${TEXT_BYTES} AS bytes
        FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT ? + 0)`

export const MEASURE = buildMeasure('')
export const MEASURE_OF_TAG = buildMeasure('tag = +? AND')

/** A range of consecutive plants. */
export interface Slice {
  readonly from: bigint
  readonly to: bigint
  /** The greatest id if more plants can follow. */
  readonly next: bigint | undefined
}

/**
 * Prepares a function that finds the slice that begins after an id, without reading large plants. It contains the plants
 * with the tag, or all plants to select those without a tag, because no index has them. Not more than SEARCH_MAX, unless
 * a single plant is larger.
 */
export function prepareSlices(
  db: Database,
): (tag: PlantFilter['tag'], after: bigint | undefined) => Slice | undefined {
  const any = db.prepare<unknown[], SliceRow>(MEASURE)
  const statements = { any, one: db.prepare<unknown[], SliceRow>(MEASURE_OF_TAG), none: any }

  return (tag, after) => {
    const from = firstAfter(after)
    if (from === undefined) return undefined
    const statement = forTag(tag, statements)
    let { plants: wanted } = SEARCH_MAX
    for (;;) {
      const row = known(statement.get(...tagsOf(tag), from, wanted))
      const [plants, bytes] = [Number(row.plants), Number(row.bytes)]
      if (row.last === null) return undefined
      if (bytes <= SEARCH_MAX.bytes || plants === 1) {
        return { from, to: row.last, next: plants < wanted ? undefined : row.last }
      }
      // As many as there would be if all had the same size.
      wanted = Math.max(1, Math.trunc((plants * SEARCH_MAX.bytes) / bytes))
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
