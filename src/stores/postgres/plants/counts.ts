import { readsText } from '../../../../service/store/plant-filter.ts'
import { toMatch } from '../../../../service/store/plant-match.ts'
import {
  COUNT_MAX,
  type CountedRange,
  type CountRequest,
  SEARCH_MAX,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, tagsOf } from '../../shared/reads/by-tag.ts'
import { ASCENDING, firstAfter } from '../../shared/reads/direction.ts'
import { CAN_READ } from '../connection/permissions.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { hasTag } from './reads.ts'
import { buildRange, buildTested, testValues } from './searches.ts'

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

/** A plant to check, or a single row without a plant if there is none. */
interface CountMatchingRow extends CountRow {
  readonly name: string | null
  readonly fields: string | null
}

/** Its last parameter is the tag. */
function buildCountMatching(condition: string, isSelected?: string): string {
  return `${buildRange(condition, ASCENDING)}, ${buildTested(ASCENDING, isSelected)}
    SELECT (SELECT count(*) FROM found) AS found, next, name, fields FROM examined LEFT JOIN unsure ON true`
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
  const from = firstAfter(after)
  if (from === undefined) return { found: 0, next: undefined }
  if (readsText(filter)) {
    const values = [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, ...testValues(filter)]
    const rows = await run<CountMatchingRow>(forTag(tag, COUNT_MATCHING), [
      ...values,
      ...tagsOf(tag),
    ])
    const matches = toMatch(filter)
    const checked = rows.filter(({ name, fields }) => name !== null && matches(name, fields))
    return toRange(rows, checked.length)
  }
  return toRange(await run<CountRow>(forTag(tag, COUNT), [from, COUNT_MAX, ...tagsOf(tag)]))
}

function toRange(rows: readonly CountRow[], checked = 0): CountedRange {
  const { found, next } = one(rows)
  return { found: Number(found) + checked, next: next ?? undefined }
}
