import type { Database } from 'better-sqlite3'
import { known } from '../../../../contract/known.ts'
import {
  COUNT_MAX,
  type PlantCount,
  type PlantFilter,
  SEARCH_MAX,
} from '../../../../service/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/by-tag.ts'
import { MATCHING } from './plant-search.ts'
import { examine, prepareSlices, type Read, SLICE_MAX, type Slice } from './plant-slices.ts'

/** Unlike `tag IS NULL` and `count(tag)`, this does not read the name, which comes before the tag in the file. */
const IS_UNTAGGED = 'octet_length(tag) IS NULL'

const buildCount = (condition: string, count: string) => `
  SELECT count(*) AS examined, ${count} AS plants, max(id) AS last
  FROM (SELECT id, ${IS_UNTAGGED} AS untagged FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT ? + 0)`

/** Count the plants of a slice without reading their names. */
export const COUNT: ByTag<string> = {
  any: buildCount('', 'count(*)'),
  one: buildCount('tag = +? AND', 'count(*)'),
  none: buildCount('', 'ifnull(sum(untagged), 0)'),
}

/** Count the plants of a slice that match. */
export const COUNT_MATCHING = mapByTag(MATCHING, (matching) => `SELECT count(*) ${matching}`)

interface CountRow {
  readonly examined: bigint
  readonly plants: bigint
  readonly last: bigint | null
}

/** Counts the plants of the slice that begins at an id. */
type CountSlice = (filter: PlantFilter, from: bigint) => { slice: Slice; plants: number }

/** Prepares a function that counts plants, in slices. */
export function prepareCount(
  db: Database,
  read: Read,
): (filter: PlantFilter) => Promise<PlantCount> {
  const countAny = prepareAnyName(db)
  const countMatching = prepareMatching(db)

  return async (filter) => {
    const hasText = filter.text !== ''
    const countSlice = hasText ? countMatching : countAny
    const max = hasText ? SEARCH_MAX : { ...SEARCH_MAX, plants: COUNT_MAX }
    let plants = 0
    const next = await examine(read, undefined, max, (from) => {
      const counted = countSlice(filter, from)
      plants += counted.plants
      return counted.slice
    })
    return { plants, isExact: next === undefined }
  }
}

function prepareAnyName(db: Database): CountSlice {
  const statements = mapByTag(COUNT, (sql) => db.prepare<unknown[], CountRow>(sql))
  return ({ tag }, from) => {
    const row = forTag(tag, statements).get(...tagsOf(tag), from, SLICE_MAX.plants)
    const { examined, plants, last } = known(row)
    const isLast = examined < SLICE_MAX.plants
    const slice = { plants: Number(examined), bytes: 0, last: last ?? undefined, isLast }
    return { slice, plants: Number(plants) }
  }
}

function prepareMatching(db: Database): CountSlice {
  const findSlice = prepareSlices(db)
  const statements = mapByTag(COUNT_MATCHING, (sql) => db.prepare<unknown[], bigint>(sql).pluck())
  return ({ text, tag }, from) => {
    const slice = findSlice(tag, from)
    const plants = forTag(tag, statements).get(...tagsOf(tag), from, slice.last ?? null, text)
    return { slice, plants: Number(plants) }
  }
}
