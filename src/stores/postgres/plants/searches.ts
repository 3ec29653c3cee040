import { INT64_MAX, INT64_MIN } from '../../../../core/json/int64.ts'
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

/** A plant that matches, or a single row without a plant if none does. */
type SearchRow = (PlantRow | { readonly id: null }) & {
  /** The last plant that was examined; null if no plants follow. */
  readonly next: bigint | null
}

/**
 * The start of a query that examines plants by id. `range` has the plants, up to `last` in `progress`, whose `next` is
 * null if no plants follow. The parameters are the first possible id, the limits on plants and bytes, and the text. The
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

/** With the collation "C", `lower` changes only ASCII letters, whatever the collation of the database. */
const HAS_TEXT = 'strpos(lower(name COLLATE "C"), lower($4::text COLLATE "C")) > 0'

/**
 * The condition for a plant of a range to match. A range can be limited to one tag, but not to plants without a tag.
 */
export const MATCHES: ByTag<string> = {
  any: HAS_TEXT,
  one: HAS_TEXT,
  none: `${HAS_TEXT} AND tag IS NULL`,
}

/** Its parameters are those of the range, the number of plants to find, and the tag if the condition uses it. */
function buildSearch(condition: string, matches: string): string {
  return `${buildRange(condition)},
    matching AS (
      SELECT ${PLANT_COLUMNS} FROM range
      WHERE id <= (SELECT last FROM progress) AND ${matches}
      ORDER BY id LIMIT $5
    )
    SELECT ${PLANT_COLUMNS}, next FROM progress LEFT JOIN matching ON true ORDER BY id`
}

export const SEARCH: ByTag<string> = {
  any: buildSearch('true', MATCHES.any),
  one: buildSearch(hasTag('$6'), MATCHES.one),
  none: buildSearch('true', MATCHES.none),
}

/** See PlantStore.search. */
export async function searchPlants(
  run: Run,
  { text, after, tag, limit }: SearchRequest,
): Promise<PlantPage> {
  if (after === INT64_MAX) return toPage({ rows: [], next: undefined })
  const from = after === undefined ? INT64_MIN : after + 1n
  const values = [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, text, limit + 1]
  const found = await run<SearchRow>(forTag(tag, SEARCH), [...values, ...tagsOf(tag)])
  const plants = found.filter((row) => row.id !== null)
  const rows = plants.slice(0, limit)
  const next = plants.length > limit ? rows.at(-1)?.id : (one(found).next ?? undefined)
  return toPage({ rows, next })
}
