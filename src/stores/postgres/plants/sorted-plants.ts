import type { NoOrder, SortedPage, SortedRequest } from '../../../../service/store/plant-store.ts'
import { PAGE_TEXT_MAX } from '../../../../service/store/plant-store.ts'
import { usableIndex } from '../../../../service/store/sort-index.ts'
import {
  type KeyRow,
  placesAfter,
  SortedPageBuilder,
  UNSORTED_MAX,
} from '../../shared/reads/sorted-page.ts'
import type { PlantRow } from '../../shared/rows.ts'
import { PLANT_COLUMNS } from '../../shared/rows.ts'
import { CAN_READ } from '../connection/permissions.ts'
import type { Run } from '../connection/pooled-client.ts'
import { TEXT } from './plant-columns.ts'

/** Keys are read up to this many at a time. */
const KEYS_AT_ONCE = 1000

/**
 * A row with a stored key, or one for a plant without one, whose name is null if it was removed. The only row without an
 * id has the record of the index, which is null if there is none, and whether there are too many plants without keys.
 */
type Row =
  | (KeyRow & { readonly found: bigint })
  | (Omit<KeyRow, 'key'> & { readonly key: null })
  | { readonly id: null; readonly record: string | null; readonly is_behind: boolean }

/**
 * The parameters are the name of the member, the first place, the last place, how many keys to read and the limit on
 * text. Reads end with the plant that reaches it.
 */
function buildQuery(order: '' | 'DESC'): string {
  const inOrder = `key ${order}, id ${order}`
  return `
    WITH record AS MATERIALIZED (
      SELECT max(value) AS value FROM plant_store_records WHERE kind = 'sort-index' AND key = $1
    ),
    marks AS MATERIALIZED (SELECT id FROM plants_without_keys LIMIT ${UNSORTED_MAX.plants + 1}),
    unsorted AS MATERIALIZED (
      SELECT ${PLANT_COLUMNS}, ${TEXT} AS text FROM (SELECT DISTINCT id FROM marks) AS ids LEFT JOIN plants USING (id)
    ),
    state AS MATERIALIZED (
      SELECT (SELECT count(*) FROM marks) > ${UNSORTED_MAX.plants} OR coalesce(sum(text) - max(text), 0) > ${UNSORTED_MAX.text} AS is_behind
      FROM unsorted
    ),
    keys AS (
      SELECT key, ${PLANT_COLUMNS}, count(*) OVER () AS found,
             sum(${TEXT}) OVER (ORDER BY ${inOrder} ROWS UNBOUNDED PRECEDING) - (${TEXT}) AS before
      FROM (
        SELECT key, id FROM plant_sort_keys
        WHERE number = (SELECT (value::json ->> 'number')::int FROM record) AND (key, id) >= ($2::bytea, $3::int8) AND (key, id) <= ($4::bytea, $5::int8) AND ${CAN_READ}
        ORDER BY ${inOrder} LIMIT $6
      ) AS places LEFT JOIN plants USING (id)
    )
    SELECT key, ${PLANT_COLUMNS}, found, NULL AS record, NULL::boolean AS is_behind FROM (
      SELECT key, ${PLANT_COLUMNS}, found FROM keys WHERE before < $7 ORDER BY ${inOrder}
    ) AS page
    UNION ALL
    SELECT NULL, ${PLANT_COLUMNS}, NULL, NULL, NULL FROM unsorted WHERE NOT (SELECT is_behind FROM state)
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, value, is_behind FROM state, record`
}

export const KEYS = buildQuery('')
export const KEYS_REVERSED = buildQuery('DESC')

/** See PlantStore.listSorted. */
export async function listSorted(run: Run, request: SortedRequest): Promise<SortedPage | NoOrder> {
  const { member, isDescending, ranges } = request
  const page = new SortedPageBuilder(request)
  for (const range of ranges) {
    for (let isEnd = false; !isEnd; ) {
      const places = placesAfter(range, isDescending, page.last)
      if (places === undefined) break
      const { first, last } = places
      const wanted = Math.min(page.wanted, KEYS_AT_ONCE)
      const values = [member.name, first.key, first.id, last.key, last.id, wanted, PAGE_TEXT_MAX]
      const found = await run<Row>(isDescending ? KEYS_REVERSED : KEYS, values)
      const state = found.find((row) => row.id === null)
      if (usableIndex(member, state?.record) === undefined) return 'incomplete'
      if (state?.is_behind) return 'behind'
      const rows = found.filter(
        (row): row is KeyRow & { found: bigint } => row.id !== null && row.key !== null,
      )
      const unsorted = new Map<bigint, PlantRow | undefined>()
      for (const row of found) {
        if (row.id === null || row.key !== null) continue
        const { id, name, tag, fields } = row
        unsorted.set(id, name === null ? undefined : { id, name, tag, fields })
      }
      isEnd = rows.length === Number(rows[0]?.found ?? 0) && rows.length < wanted
      const full = page.add({ places, rows, isEnd, unsorted })
      if (full !== undefined) return full
    }
  }
  return page.end()
}
