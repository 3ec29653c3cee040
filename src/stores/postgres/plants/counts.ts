import { INT64_MIN } from '../../../../contract/int64.ts'
import {
  COUNT_MAX,
  type PlantCount,
  type PlantFilter,
  SEARCH_MAX,
} from '../../../../service/plant-store.ts'
import { type ByTag, forTag, tagsOf } from '../../shared/by-tag.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { hasTag } from './reads.ts'
import { buildRange, MATCHES } from './searches.ts'

interface CountRow {
  readonly plants: bigint
  /** Whether others may follow. */
  readonly more: boolean
}

/** Its parameters are the limit on plants, and the tag if the condition uses it. */
function buildCount(condition: string, count: string): string {
  return `
    SELECT ${count} AS plants, count(*) >= $1 AS more
    FROM (SELECT tag FROM plants WHERE ${condition} LIMIT $1) AS range`
}

export const COUNT: ByTag<string> = {
  any: buildCount('true', 'count(*)'),
  one: buildCount(hasTag('$2'), 'count(*)'),
  none: buildCount('true', 'count(*) - count(tag)'),
}

/** Its parameters are those of the range, and the tag if the condition uses it. */
function buildCountMatching(condition: string, matches: string): string {
  return `${buildRange(condition)}
    SELECT (SELECT count(*) FROM range WHERE id <= last AND ${matches}) AS plants,
      next IS NOT NULL AS more
    FROM progress`
}

export const COUNT_MATCHING: ByTag<string> = {
  any: buildCountMatching('true', MATCHES.any),
  one: buildCountMatching(hasTag('$5'), MATCHES.one),
  none: buildCountMatching('true', MATCHES.none),
}

/** See PlantStore.count. */
export async function countPlants(run: Run, { text, tag }: PlantFilter): Promise<PlantCount> {
  const [statements, values] =
    text === ''
      ? [COUNT, [COUNT_MAX]]
      : [COUNT_MATCHING, [INT64_MIN, SEARCH_MAX.plants, SEARCH_MAX.bytes, text]]
  const rows = await run<CountRow>(forTag(tag, statements), [...values, ...tagsOf(tag)])
  const { plants, more } = one(rows)
  return { plants: Number(plants), isExact: !more }
}
