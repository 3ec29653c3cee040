import {
  contentVersion,
  type NoMatch,
  type PlantPatch,
  type StoredPlant,
} from '../../../../service/plant-store.ts'
import {
  CONTENT_COLUMNS,
  contentValues,
  PLANT_COLUMNS,
  type PlantRow,
  toPlant,
} from '../../shared/rows.ts'
import { AWAIT_STANDBYS } from '../connection/locks.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { PooledClient } from '../connection/pooled-client.ts'
import { hasContent } from './plant-columns.ts'

/** For each column, one parameter says whether the patch has a value, and the next one is the value. */
const CHANGED = CONTENT_COLUMNS.map(
  (column, index) =>
    `${column} = CASE WHEN $${2 * index + 2} THEN $${2 * index + 3}::text ELSE ${column} END`,
)
const UPDATE = `UPDATE plants SET ${CHANGED.join(', ')} WHERE id = $1`
const REMOVE = 'DELETE FROM plants WHERE id = $1'

const FIND = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1`

/** See PlantStore.update. */
export async function updatePlant(
  client: Pick<PooledClient, 'query' | 'change'>,
  id: bigint,
  patch: PlantPatch,
  expected?: readonly string[],
): Promise<StoredPlant | NoMatch> {
  const changed = CONTENT_COLUMNS.flatMap((column) => [patch[column] !== undefined, patch[column]])
  const values = [id, ...changed] as const
  const result = await changePlant(client, UPDATE, values, expected)
  return typeof result === 'string' ? result : toPlant(result)
}

/** See PlantStore.remove. */
export async function removePlant(
  client: Pick<PooledClient, 'query' | 'change'>,
  id: bigint,
  expected?: readonly string[],
): Promise<'removed' | NoMatch> {
  const result = await changePlant(client, REMOVE, [id], expected)
  // To a client that repeats a removal, this means that it has been made. Without the wait, the plant could be back after
  // a failover: an earlier attempt may have removed it on the primary only.
  if (result === 'not-found') await client.change(AWAIT_STANDBYS)
  return typeof result === 'string' ? result : 'removed'
}

/**
 * Runs a statement that changes a plant. With expected versions the plant is read first, because SQL cannot compute a
 * version, and changed only if it still has the content that was read.
 *
 * @param values parameters of the statement, the id first
 */
async function changePlant(
  client: Pick<PooledClient, 'query' | 'change'>,
  statement: string,
  values: readonly [id: bigint, ...others: unknown[]],
  expected?: readonly string[],
): Promise<PlantRow | NoMatch> {
  const [id] = values
  const returning = `RETURNING ${PLANT_COLUMNS}`
  if (expected === undefined) {
    const [changed] = await client.change<PlantRow>(`${statement} ${returning}`, values)
    return changed ?? 'not-found'
  }
  // Restricts the change to a plant with the content that was read.
  const conditional = `${statement} AND ${hasContent(values.length + 1)} ${returning}`
  return retryOptimistically(async () => {
    const [stored] = await client.query<PlantRow>(FIND, [id])
    if (stored === undefined) return 'not-found'
    const plant = toPlant(stored)
    if (!expected.includes(contentVersion(plant))) return 'changed'
    const given = [...values, ...contentValues(plant)]
    const [changed] = await client.change<PlantRow>(conditional, given)
    return changed
  })
}
