import { type Content, mergeFields } from '../../../../service/plant-content.ts'
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
import { CAN_CHANGE } from '../connection/permissions.ts'
import type { PooledClient } from '../connection/pooled-client.ts'
import { hasContent } from './plant-columns.ts'

/** For each column, one parameter says whether it gets a value, and the next one is the value. */
const CHANGED = CONTENT_COLUMNS.map(
  (column, index) =>
    `${column} = CASE WHEN $${2 * index + 2} THEN $${2 * index + 3}::text ELSE ${column} END`,
)
const UPDATE = `UPDATE plants SET ${CHANGED.join(', ')} WHERE id = $1`
const REMOVE = 'DELETE FROM plants WHERE id = $1'

const FIND = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1 AND ${CAN_CHANGE}`

type Client = Pick<PooledClient, 'query' | 'change'>

/** See PlantStore.update. */
export async function updatePlant(
  client: Client,
  id: bigint,
  patch: PlantPatch,
  expected?: readonly string[],
): Promise<StoredPlant | NoMatch> {
  const { fields, clears } = patch
  const hasFields = fields !== undefined || clears !== undefined
  const result =
    hasFields || expected !== undefined
      ? await changeFound(client, id, {
          statement: UPDATE,
          toValues: (stored) =>
            changedValues({ ...patch, fields: mergeFields(stored.fields, patch) ?? null }),
          expected,
        })
      : await changeAny(client, UPDATE, [id, ...changedValues(patch)])
  return typeof result === 'string' ? result : toPlant(result)
}

function changedValues(content: Partial<Content>): unknown[] {
  return CONTENT_COLUMNS.flatMap((column) => [content[column] !== undefined, content[column]])
}

/** See PlantStore.remove. */
export async function removePlant(
  client: Client,
  id: bigint,
  expected?: readonly string[],
): Promise<'removed' | NoMatch> {
  const result =
    expected === undefined
      ? await changeAny(client, REMOVE, [id])
      : await changeFound(client, id, { statement: REMOVE, toValues: () => [], expected })
  // To a client that repeats a removal, this means that it has been made. Without the wait, the plant could be back after
  // a failover: an earlier attempt may have removed it on the primary only.
  if (result === 'not-found') await client.change(AWAIT_STANDBYS)
  return typeof result === 'string' ? result : 'removed'
}

const RETURNING = `RETURNING ${PLANT_COLUMNS}`

/** Runs a statement that changes a plant, whatever its content. */
async function changeAny(
  client: Client,
  statement: string,
  values: readonly unknown[],
): Promise<PlantRow | 'not-found'> {
  const [changed] = await client.change<PlantRow>(`${statement} ${RETURNING}`, values)
  return changed ?? 'not-found'
}

interface DependentChange {
  /** Its first parameter is the id. */
  readonly statement: string
  /** The others depend on the plant. */
  readonly toValues: (stored: StoredPlant) => readonly unknown[]
  readonly expected: readonly string[] | undefined
}

/**
 * Makes a change that depends on the content of the plant, because SQL cannot compute a version or merge own fields:
 * reads the plant first, and changes it only if it still has the content that was read.
 */
function changeFound(
  client: Client,
  id: bigint,
  { statement, toValues, expected }: DependentChange,
): Promise<PlantRow | NoMatch> {
  return retryOptimistically(async () => {
    const [stored] = await client.query<PlantRow>(FIND, [id])
    if (stored === undefined) return 'not-found'
    const plant = toPlant(stored)
    if (expected?.includes(contentVersion(plant)) === false) return 'changed'
    const values = [id, ...toValues(plant)]
    const conditional = `${statement} AND ${hasContent(values.length + 1)} ${RETURNING}`
    const given = [...values, ...contentValues(plant)]
    const [changed] = await client.change<PlantRow>(conditional, given)
    return changed
  })
}
