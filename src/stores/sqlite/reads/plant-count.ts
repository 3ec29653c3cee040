import type { Database } from 'better-sqlite3'
import { known } from '../../../../contract/known.ts'
import { COUNT_MAX, type CountedRange, type CountRequest } from '../../../../service/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/by-tag.ts'
import { MATCHING } from './plant-search.ts'
import { firstAfter, prepareSlices } from './plant-slices.ts'

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

/** Prepares PlantStore.count. */
export function prepareCount(db: Database): (request: CountRequest) => CountedRange {
  const findSlice = prepareSlices(db)
  const counts = mapByTag(COUNT, (sql) => db.prepare<unknown[], CountRow>(sql))
  const matching = mapByTag(COUNT_MATCHING, (sql) => db.prepare<unknown[], bigint>(sql).pluck())

  return ({ text, tag, after }) => {
    if (text !== '') {
      const slice = findSlice(tag, after)
      if (slice === undefined) return NOTHING
      const found = forTag(tag, matching).get(...tagsOf(tag), slice.from, slice.to, text)
      return { found: Number(found), next: slice.next }
    }
    const from = firstAfter(after)
    if (from === undefined) return NOTHING
    const row = known(forTag(tag, counts).get(...tagsOf(tag), from, COUNT_MAX))
    const isLast = row.examined < COUNT_MAX || row.last === null
    return { found: Number(row.plants), next: isLast ? undefined : row.last }
  }
}

const NOTHING: CountedRange = { found: 0, next: undefined }
