import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import { readsText } from '../../../../service/store/plant-filter.ts'
import { toMatch } from '../../../../service/store/plant-match.ts'
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
import { buildRange, buildTested, CHECKED_MAX, testValues } from './searches.ts'

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

interface CountMatchingRow extends CountRow {
  /** The plants to check, by columns. Null if there are none. */
  readonly names: readonly string[] | null
  readonly fields: readonly (string | null)[]
}

/** Its last parameter is the tag. */
function buildCountMatching(condition: string, isSelected?: string): string {
  return `${buildRange(condition)}, ${buildTested(isSelected)},
    checked AS (
      SELECT CASE WHEN count(*) = ${CHECKED_MAX} THEN max(id) END AS last,
        json_agg(name) AS names, json_agg(fields) AS fields
      FROM unsure
    )
    SELECT (SELECT count(*) FROM tested WHERE is_found AND (checked.last IS NULL OR id <= checked.last)) AS found,
      coalesce(checked.last, next) AS next, names, fields
    FROM progress, checked`
}

export const COUNT_MATCHING: ByTag<string> = {
  any: buildCountMatching('true'),
  one: buildCountMatching(hasTag('$7')),
  none: buildCountMatching('true', 'tag IS NULL'),
}

/** See PlantStore.count. */
export async function countPlants(
  run: Run,
  { tag, after, ...filter }: CountRequest,
): Promise<CountedRange> {
  if (after === INT64_MAX) return { found: 0, next: undefined }
  const from = after === undefined ? INT64_MIN : after + 1n
  if (readsText(filter)) {
    const values = [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, ...testValues(filter)]
    const counted = await run<CountMatchingRow>(forTag(tag, COUNT_MATCHING), [
      ...values,
      ...tagsOf(tag),
    ])
    const { found, next, names, fields } = one(counted)
    const matches = toMatch(filter)
    const checked = names?.filter((name, index) => matches(name, fields[index])) ?? []
    return { found: Number(found) + checked.length, next: next ?? undefined }
  }
  const rows = await run<CountRow>(forTag(tag, COUNT), [from, COUNT_MAX, ...tagsOf(tag)])
  const { found, next } = one(rows)
  return { found: Number(found), next: next ?? undefined }
}
