import type { Database } from 'better-sqlite3'
import { INT64_MAX } from '../../../../core/json/int64.ts'
import { readsText } from '../../../../service/store/plant-filter.ts'
import {
  COUNT_MAX,
  type CountedRange,
  type CountRequest,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/reads/by-tag.ts'
import { firstAfter } from '../../shared/reads/direction.ts'
import { MATCHING, type prepareMatch } from './plant-search.ts'
import { prepareSlices, SLICE_MAX } from './plant-slices.ts'

/** How many steps a count has at most. */
export const STEPS_MAX = COUNT_MAX / SLICE_MAX

const buildEnd = (condition: string) =>
  `SELECT id FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT 1 OFFSET ? + 0`

/** The last plant of a range, which has one more than the offset. */
export const RANGE_END = buildEnd('')
export const RANGE_END_OF_TAG = buildEnd('tag = +? AND')

const buildCount = (condition: string) =>
  `SELECT count(*) FROM plants WHERE ${condition} id >= ? AND id <= ?`

/** Count the plants of a range without reading their names. */
export const COUNT: ByTag<string> = {
  any: buildCount(''),
  one: buildCount('tag = +? AND'),
  // Unlike `tag IS NULL`, this does not read the name, which comes before the tag in the file.
  none: buildCount('octet_length(tag) IS NULL AND'),
}

/** Count the plants of a slice that match. */
export const COUNT_MATCHING = mapByTag(MATCHING, (matching) => `SELECT count(*) ${matching}`)

/** Prepares a step of PlantStore.count. If it reads text, there is only one. */
export function prepareCount(
  db: Database,
  beginMatch: ReturnType<typeof prepareMatch>,
): (request: CountRequest) => CountedRange {
  const findSlices = prepareSlices(db)
  const prepareBigint = (sql: string) => db.prepare<unknown[], bigint>(sql).pluck()
  const endOfAny = prepareBigint(RANGE_END)
  const ends = { any: endOfAny, one: prepareBigint(RANGE_END_OF_TAG), none: endOfAny }
  const counts = mapByTag(COUNT, prepareBigint)
  const matching = mapByTag(COUNT_MATCHING, prepareBigint)

  return ({ tag, after, ...filter }) => {
    const tags = tagsOf(tag)
    if (readsText(filter)) {
      const test = beginMatch(filter)
      let found = 0
      let next: bigint | undefined
      for (const slice of findSlices(tag, after)) {
        found += Number(forTag(tag, matching).get(...tags, slice.from, slice.to, ...test))
        next = slice.next
      }
      return { found, next }
    }
    const from = firstAfter(after)
    if (from === undefined) return { found: 0, next: undefined }
    const next = forTag(tag, ends).get(...tags, from, SLICE_MAX - 1)
    // Only those without a tag are examined along with others.
    if (next !== undefined && tag !== null) return { found: SLICE_MAX, next }
    const found = forTag(tag, counts).get(...tags, from, next ?? INT64_MAX)
    return { found: Number(found), next }
  }
}
