import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
import { known } from '../../../../core/known.ts'
import type { PlantFilter } from '../../../../service/store/plant-filter.ts'
import { longestOf, toMatch, toNameTest } from '../../../../service/store/plant-match.ts'
import {
  type PlantPage,
  SEARCH_MAX,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, tagsOf } from '../../shared/by-tag.ts'
import { PLANT_COLUMNS, type PlantRow } from '../../shared/rows.ts'
import { CAN_READ } from '../connection/permissions.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { TEXT } from './plant-columns.ts'
import { hasTag, toPage } from './reads.ts'

/** The plants that match or must be checked, by columns, which take a third of the time of rows. Null if there are none. */
interface SearchRow {
  readonly names: readonly string[] | null
  readonly ids: readonly string[]
  readonly tags: readonly (string | null)[]
  readonly fields: readonly (string | null)[]
  readonly found: readonly boolean[]
  /** The last plant that was examined; null if no plants follow. */
  readonly next: bigint | null
}

/** How many plants a read checks at most. */
export const CHECKED_MAX = 1000

/**
 * The start of a query that examines plants by id. `range` has the plants, up to `last` in `progress`, whose `next` is
 * null if no plants follow. The parameters are the first possible id, and the limits on plants and bytes. The
 * range ends with the plant that reaches the limit on bytes; finding it takes longer than the search, so that happens
 * only if there is one.
 */
export function buildRange(condition: string): string {
  return `
    WITH range AS MATERIALIZED (
      SELECT ${PLANT_COLUMNS}, ${TEXT} AS bytes
      FROM plants WHERE ${condition} AND id >= $1 AND ${CAN_READ} ORDER BY id LIMIT $2
    ),
    progress AS (
      SELECT last, CASE WHEN plants >= $2 OR last < greatest THEN last END AS next
      FROM (
        SELECT count(*) AS plants, max(id) AS greatest, CASE
          WHEN sum(bytes) > $3 THEN (
            SELECT min(id) FROM (SELECT id, sum(bytes) OVER (ORDER BY id) AS total FROM range) AS totals
            WHERE total >= $3
          ) ELSE max(id) END AS last
        FROM range
      ) AS measured
    )`
}

/**
 * The plants of a range that match or must be checked, with the parameters of `testValues` after those of the range. A
 * range can be limited to one tag, but not to plants without a tag. With the collation "C", `lower` changes only ASCII
 * letters, whatever the collation of the database.
 */
export function buildTested(isSelected = 'true'): string {
  return `tested AS MATERIALIZED (
      SELECT ${PLANT_COLUMNS}, $5::boolean AND lower(name COLLATE "C") LIKE ALL ($6::text[]) AS is_found
      FROM range
      WHERE id <= (SELECT last FROM progress) AND ${isSelected}
        AND (strpos(lower(name COLLATE "C"), $4) > 0 OR octet_length(name) > char_length(name))
    ),
    unsure AS (SELECT * FROM tested WHERE NOT is_found ORDER BY id LIMIT ${CHECKED_MAX})`
}

export function testValues(
  filter: PlantFilter,
): [part: string, isEnough: boolean, patterns: string[]] {
  const { parts, isEnough } = toNameTest(filter)
  const patterns = parts.map((part) => `%${part.replace(/[\\%_]/g, '\\$&')}%`)
  return [longestOf(parts), isEnough, patterns]
}

/** Its last parameters are the number of plants to find, and the tag. */
function buildSearch(condition: string, isSelected?: string): string {
  return `${buildRange(condition)}, ${buildTested(isSelected)},
    matching AS (
      (SELECT * FROM tested WHERE is_found ORDER BY id LIMIT $7) UNION ALL SELECT * FROM unsure ORDER BY id
    )
    SELECT next, columns.* FROM progress, (
      SELECT json_agg(id::text) AS ids, json_agg(name) AS names, json_agg(tag) AS tags, json_agg(fields) AS fields,
        json_agg(is_found) AS found
      FROM matching
    ) AS columns`
}

export const SEARCH: ByTag<string> = {
  any: buildSearch('true'),
  one: buildSearch(hasTag('$8')),
  none: buildSearch('true', 'tag IS NULL'),
}

/** See PlantStore.search. */
export async function searchPlants(
  run: Run,
  { after, tag, limit, ...filter }: SearchRequest,
): Promise<PlantPage> {
  if (after === INT64_MAX) return toPage({ rows: [], next: undefined })
  const from = after === undefined ? INT64_MIN : after + 1n
  const values = [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, ...testValues(filter)]
  const found = await run<SearchRow>(forTag(tag, SEARCH), [...values, limit + 1, ...tagsOf(tag)])
  const columns = one(found)
  const matches = toMatch(filter)
  const idAt = (index: number) => BigInt(known(columns.ids[index]))
  const rows: PlantRow[] = []
  let checked = 0
  for (const [index, name] of (columns.names ?? []).entries()) {
    const fields = columns.fields[index] ?? null
    const isFound = columns.found[index]
    if (isFound || matches(name, fields)) {
      if (rows.length === limit) return toPage({ rows, next: rows.at(-1)?.id })
      rows.push({ id: idAt(index), name, tag: columns.tags[index] ?? null, fields })
    }
    if (!isFound && ++checked === CHECKED_MAX) return toPage({ rows, next: idAt(index) })
  }
  return toPage({ rows, next: columns.next ?? undefined })
}
