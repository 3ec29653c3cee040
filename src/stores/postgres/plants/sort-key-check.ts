import { readIndex, type SortIndex, sortKey } from '../../../../service/store/sort-index.ts'
import { type Finding, IDS_MAX, indexFinding } from '../../shared/check-result.ts'
import { KEYS_MAX } from '../../shared/page-limits.ts'
import type { PlantRow } from '../../shared/rows.ts'
import type { Run } from '../connection/pooled-client.ts'
import { listRecords } from '../records/records.ts'
import { FIND_NEXT } from './sort-keys.ts'

/** How many marked plants are kept in memory. If there are more, an index counts as incomplete. */
const MARKED_MAX = 100_000

const MARKED = 'SELECT DISTINCT id FROM plants_without_keys LIMIT $1'

export const KEYS_OF_PLANTS =
  'SELECT id, key FROM plant_sort_keys WHERE number = $1 AND id = ANY ($2::int8[])'

/** The next keys in the order of an index, and whether each has a plant. */
export const NEXT_KEYS = `
  SELECT id, key, EXISTS (SELECT FROM plants WHERE plants.id = next.id) AS has_plant
  FROM (
    SELECT id, key FROM plant_sort_keys
    WHERE number = $1 AND ($2::bytea IS NULL OR (key, id) > ($2, $3::int8)) ORDER BY key, id LIMIT $4
  ) AS next ORDER BY key, id`

/** Compares the indexes with the plants, in one snapshot and in short statements. */
export async function* checkIndexes(run: Run): AsyncGenerator<Finding> {
  const { records } = await listRecords(run, ['sort-index'])
  if (records.length === 0) return
  const rows = await run<{ id: bigint }>(MARKED, [MARKED_MAX + 1])
  const marked = new Set(rows.map(({ id }) => id))
  for (const index of records.map(readIndex)) {
    const isComplete = index.isComplete && marked.size <= MARKED_MAX
    const wrong: bigint[] = []
    for await (const id of isComplete ? findDifferences(run, index) : []) {
      if (!marked.has(id)) wrong.push(id)
      if (wrong.length === IDS_MAX) break
    }
    yield indexFinding({ ...index, isComplete }, wrong)
  }
}

/** Finds the plants, marked or not, whose keys are missing or wrong, and then those that were removed. */
async function* findDifferences(run: Run, { member, number }: SortIndex): AsyncGenerator<bigint> {
  for (let rows: PlantRow[] = [], after: bigint | undefined; ; after = rows.at(-1)?.id) {
    rows = await run<PlantRow>(FIND_NEXT, [after, KEYS_MAX.plants, KEYS_MAX.text])
    if (rows.length === 0) break
    const values = [number, rows.map(({ id }) => id)]
    const found = await run<{ id: bigint; key: Buffer }>(KEYS_OF_PLANTS, values)
    const keys = new Map(found.map(({ id, key }) => [id, key]))
    for (const row of rows)
      if (keys.get(row.id)?.equals(sortKey(member, row)) !== true) yield row.id
  }
  type Key = { readonly id: bigint; readonly key: Buffer; readonly has_plant: boolean }
  for (let last: Key | undefined; ; ) {
    const keys: Key[] = await run(NEXT_KEYS, [number, last?.key, last?.id, KEYS_MAX.plants])
    for (const { id, has_plant } of keys) if (!has_plant) yield id
    last = keys.at(-1)
    if (last === undefined) return
  }
}
