import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import {
  COUNT_MAX,
  type CountedRange,
  type CountRequest,
  SEARCH_MAX,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, tagsOf } from '../../shared/by-tag.ts'
import { CAN_READ } from '../connection/permissions.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { hasTag } from './reads.ts'
import { buildRange, MATCHES } from './searches.ts'

interface CountRow {
  readonly found: bigint
  /** The last plant that was examined; null if no plants follow. */
  readonly next: bigint | null
}

/** Its parameters are the first possible id, the limit on plants, and the tag if the condition uses it. */
function buildCount(condition: string, count: string): string {
  return `
    SELECT ${count} AS found, CASE WHEN count(*) >= $2 THEN max(id) END AS next
    FROM (
      SELECT id, tag FROM plants WHERE ${condition} AND id >= $1 AND ${CAN_READ} ORDER BY id LIMIT $2
    ) AS range`
}

export const COUNT: ByTag<string> = {
  any: buildCount('true', 'count(*)'),
  one: buildCount(hasTag('$3'), 'count(*)'),
  none: buildCount('true', 'count(*) - count(tag)'),
}

/** Its parameters are those of the range, and the tag if the condition uses it. */
function buildCountMatching(condition: string, matches: string): string {
  return `${buildRange(condition)}
    SELECT (SELECT count(*) FROM range WHERE id <= last AND ${matches}) AS found, next
    FROM progress`
}

export const COUNT_MATCHING: ByTag<string> = {
  any: buildCountMatching('true', MATCHES.any),
  one: buildCountMatching(hasTag('$5'), MATCHES.one),
  none: buildCountMatching('true', MATCHES.none),
}

/** See PlantStore.count. */
export async function countPlants(
  run: Run,
  { text, tag, after }: CountRequest,
): Promise<CountedRange> {
  if (after === INT64_MAX) return { found: 0, next: undefined }
  const from = after === undefined ? INT64_MIN : after + 1n
  const [statements, values] =
    text === ''
      ? [COUNT, [from, COUNT_MAX]]
      : [COUNT_MATCHING, [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, text]]
  const rows = await run<CountRow>(forTag(tag, statements), [...values, ...tagsOf(tag)])
  const { found, next } = one(rows)
  return { found: Number(found), next: next ?? undefined }
}
