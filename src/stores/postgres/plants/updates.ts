import {
  contentVersion,
  type NoMatch,
  type PlantPatch,
  type StoredPlant,
} from '../../../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../shared/rows.ts'
import { AWAIT_STANDBYS } from '../connection/locks.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { PooledClient } from '../connection/pooled-client.ts'

/** `$2` and `$4` say whether the patch has a name and a tag. */
const UPDATE = `
  UPDATE plants
  SET name = CASE WHEN $2 THEN $3::text ELSE name END, tag = CASE WHEN $4 THEN $5::text ELSE tag END
  WHERE id = $1`
const REMOVE = 'DELETE FROM plants WHERE id = $1'

const FIND = 'SELECT id, name, tag FROM plants WHERE id = $1'

/** Restricts a change to a plant with the content that was read. */
const requireUnchanged = (first: number) =>
  `AND name = $${first} AND tag IS NOT DISTINCT FROM $${first + 1}::text`

/** See PlantStore.update. */
export async function updatePlant(
  client: Pick<PooledClient, 'query' | 'change'>,
  id: bigint,
  patch: PlantPatch,
  expected?: readonly string[],
): Promise<StoredPlant | NoMatch> {
  const { name, tag } = patch
  const values = [id, name !== undefined, name, tag !== undefined, tag] as const
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
  const returning = 'RETURNING id, name, tag'
  if (expected === undefined) {
    const [changed] = await client.change<PlantRow>(`${statement} ${returning}`, values)
    return changed ?? 'not-found'
  }
  const conditional = `${statement} ${requireUnchanged(values.length + 1)} ${returning}`
  return retryOptimistically(async () => {
    const [stored] = await client.query<PlantRow>(FIND, [id])
    if (stored === undefined) return 'not-found'
    if (!expected.includes(contentVersion(toPlant(stored)))) return 'changed'
    const given = [...values, stored.name, stored.tag]
    const [changed] = await client.change<PlantRow>(conditional, given)
    return changed
  })
}
