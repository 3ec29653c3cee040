import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import type { PlantFilter } from '../../../../service/store/plant-filter.ts'
import { SEARCH_MAX } from '../../../../service/store/plant-store.ts'
import { forTag, tagsOf } from '../../shared/reads/by-tag.ts'
import {
  byDirection,
  type Direction,
  firstAfter,
  inDirection,
  mapDirections,
} from '../../shared/reads/direction.ts'
import { TEXT_BYTES } from './plant-json.ts'

const buildMeasure = (condition: string, { order, from, last }: Direction) => `
  SELECT count(*) AS plants, sum(bytes) AS bytes, ${last}(id) AS last
  FROM (SELECT id, ${TEXT_BYTES} AS bytes
        FROM plants WHERE ${condition} id ${from} ? ORDER BY id ${order} LIMIT ? + 0)`

export const MEASURE = byDirection((direction) => ({
  any: buildMeasure('', direction),
  one: buildMeasure('tag = +? AND', direction),
}))

/** How many plants are examined at once, because each can be in a page of its own of the file. */
export const SLICE_MAX = 1000

/** A range of consecutive plants, which can be empty. */
export interface Slice {
  /** The smallest id. */
  readonly from: bigint
  /** The greatest id. */
  readonly to: bigint
  /** The last id if more plants can follow. */
  readonly next: bigint | undefined
}

/**
 * Prepares a function that finds the slices that follow an id, without reading large plants. They contain the plants
 * with the tag, or all plants to select those without a tag, because no index has them. Not more than SEARCH_MAX in all,
 * unless a single plant is larger.
 */
export function prepareSlices(
  db: Database,
): (
  tag: PlantFilter['tag'],
  after: bigint | undefined,
  isDescending?: boolean,
) => Generator<Slice, void> {
  const statements = mapDirections(MEASURE, (measure) => {
    const any = db.prepare<unknown[], SliceRow>(measure.any)
    return { any, one: db.prepare<unknown[], SliceRow>(measure.one), none: any }
  })

  return function* (tag, after, isDescending) {
    const statement = forTag(tag, inDirection(statements, isDescending))
    let { plants: plantsLeft, bytes: bytesLeft } = SEARCH_MAX
    let least = 1
    let start = firstAfter(after, isDescending)
    while (start !== undefined && plantsLeft > 0) {
      const wanted = Math.min(plantsLeft, SLICE_MAX)
      const row = known(statement.get(...tagsOf(tag), start, wanted))
      const [plants, bytes] = [Number(row.plants), Number(row.bytes)]
      if (bytes > bytesLeft && plants > least) {
        // As many as there would be if all had the same size.
        plantsLeft = Math.max(least, Math.trunc((plants * bytesLeft) / bytes))
        continue
      }
      const next = plants < wanted ? undefined : (row.last ?? undefined)
      const last = row.last ?? start
      yield isDescending ? { from: last, to: start, next } : { from: start, to: last, next }
      if (next === undefined) return
      start = firstAfter(next, isDescending)
      plantsLeft -= plants
      bytesLeft -= bytes
      least = 0
    }
  }
}

interface SliceRow {
  readonly plants: bigint
  readonly bytes: bigint | null
  readonly last: bigint | null
}
