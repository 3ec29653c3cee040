import type { PlantFilter } from '../../../../service/store/plant-filter.ts'
import { longestOf, toMatch, toNameTest } from '../../../../service/store/plant-match.ts'
import {
  type PlantPage,
  SEARCH_MAX,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, tagsOf } from '../../shared/reads/by-tag.ts'
import {
  byDirection,
  type Direction,
  firstAfter,
  inDirection,
} from '../../shared/reads/direction.ts'
import { PLANT_COLUMNS, type PlantRow } from '../../shared/rows.ts'
import { CAN_READ } from '../connection/permissions.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { TEXT } from './plant-columns.ts'
import { hasTag, toPage } from './reads.ts'

/** A plant that matches or must be checked, or a single row without a plant if there is none. */
type SearchRow = (PlantRow | { readonly id: null }) & {
  /** The last plant that was examined; null if no plants follow. */
  readonly next: bigint | null
}

/** How many plants a read checks at most. */
const CHECKED_MAX = 1000

/**
 * The start of a query that examines plants by id. `range` has the plants, up to `last` in `progress`, whose `next` is
 * null if no plants follow. The parameters are the first possible id, and the limits on plants and bytes. The range ends
 * with the plant that reaches the limit on bytes; finding it takes longer than the search, so that happens only if there
 * is one.
 */
export function buildRange(condition: string, { order, from, first, last }: Direction): string {
  return `
    WITH range AS MATERIALIZED (
      SELECT ${PLANT_COLUMNS}, ${TEXT} AS bytes
      FROM plants WHERE ${condition} AND id ${from} $1 AND ${CAN_READ} ORDER BY id ${order} LIMIT $2
    ),
    progress AS (
      SELECT last, CASE WHEN plants >= $2 OR last <> furthest THEN last END AS next
      FROM (
        SELECT count(*) AS plants, ${last}(id) AS furthest, CASE
          WHEN sum(bytes) > $3 THEN (
            SELECT ${first}(id) FROM (SELECT id, sum(bytes) OVER (ORDER BY id ${order}) AS total FROM range) AS totals
            WHERE total >= $3
          ) ELSE ${last}(id) END AS last
        FROM range
      ) AS measured
    )`
}

/** With the collation "C", `lower` changes only ASCII letters, whatever the collation of the database. */
const LOWER = 'lower(name COLLATE "C")'

/**
 * The plants of a range that match or must be checked, with the parameters of `testValues` after those of the range. A
 * range can be limited to one tag, but not to plants without a tag. `strpos` costs less than a LIKE that rejects a name.
 */
export function buildTested({ order, to, last }: Direction, isSelected = 'true'): string {
  return `tested AS MATERIALIZED (
      SELECT ${PLANT_COLUMNS}, $6::boolean AND octet_length(name) = char_length(name) AS is_found
      FROM range
      WHERE id ${to} (SELECT last FROM progress) AND ${isSelected}
        AND (strpos(${LOWER}, $4) > 0 AND ${LOWER} LIKE ALL ($5::text[]) OR octet_length(name) > char_length(name))
    ),
    unsure AS (SELECT * FROM tested WHERE NOT is_found ORDER BY id ${order} LIMIT ${CHECKED_MAX}),
    examined AS (
      SELECT CASE WHEN count(*) = ${CHECKED_MAX} THEN ${last}(id) ELSE (SELECT next FROM progress) END AS next FROM unsure
    ),
    found AS (SELECT tested.* FROM tested, examined WHERE is_found AND (next IS NULL OR id ${to} next))`
}

export function testValues(
  filter: PlantFilter,
): [longest: string, patterns: string[], isEnough: boolean] {
  const { parts, isEnough } = toNameTest(filter)
  const patterns = parts.map((part) => `%${part.replace(/[\\%_]/g, '\\$&')}%`)
  return [longestOf(parts), patterns, isEnough]
}

/** Its last parameters are the number of plants to find, and the tag. */
function buildSearch(direction: Direction, condition: string, isSelected?: string): string {
  const { order } = direction
  return `${buildRange(condition, direction)}, ${buildTested(direction, isSelected)},
    matching AS ((SELECT * FROM found ORDER BY id ${order} LIMIT $7) UNION ALL SELECT * FROM unsure)
    SELECT ${PLANT_COLUMNS}, next FROM examined LEFT JOIN matching ON true ORDER BY id ${order}`
}

export const SEARCH = byDirection(
  (direction): ByTag<string> => ({
    any: buildSearch(direction, 'true'),
    one: buildSearch(direction, hasTag('$8')),
    none: buildSearch(direction, 'true', 'tag IS NULL'),
  }),
)

/** See PlantStore.search. */
export async function searchPlants(
  run: Run,
  { after, isDescending, tag, limit, ...filter }: SearchRequest,
): Promise<PlantPage> {
  const from = firstAfter(after, isDescending)
  if (from === undefined) return toPage({ rows: [], next: undefined })
  const values = [from, SEARCH_MAX.plants, SEARCH_MAX.bytes, ...testValues(filter)]
  const found = await run<SearchRow>(forTag(tag, inDirection(SEARCH, isDescending)), [
    ...values,
    limit + 1,
    ...tagsOf(tag),
  ])
  const matches = toMatch(filter)
  const plants = found.flatMap((row) =>
    row.id !== null && matches(row.name, row.fields) ? row : [],
  )
  const rows = plants.slice(0, limit)
  const next = plants.length > limit ? rows.at(-1)?.id : (one(found).next ?? undefined)
  return toPage({ rows, next })
}
