import { mergeFields } from '../../../../service/store/plant-content.ts'
import type {
  ChangeOf,
  ChangeOutcome,
  NoMatch,
  PlantPatch,
  StoredPlant,
} from '../../../../service/store/plant-store.ts'
import { isExpected } from '../../shared/plant-change.ts'
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
type Change = ChangeOf<'replace' | 'update' | 'remove'>

/** See PlantStore.change. */
export async function changePlant(
  client: Client,
  change: Change,
): Promise<ChangeOutcome<Change['type']>> {
  const result = dependsOnContent(change)
    ? await changeFound(client, change)
    : await changeAny(client, change)
  if (change.type !== 'remove') return typeof result === 'string' ? result : toPlant(result)
  if (result !== 'plant-not-found') return typeof result === 'string' ? result : 'removed'
  // To a client that repeats a removal, this means that it has been made. Without the wait, the plant could be back after
  // a failover: an earlier attempt may have removed it on the primary only.
  await client.change(AWAIT_STANDBYS)
  return change.expected === undefined ? 'unchanged' : result
}

/** Whether a change depends on the content of the plant: SQL cannot compute a version or merge own fields. */
function dependsOnContent(change: Change): boolean {
  if (change.expected !== undefined) return true
  if (change.type === 'remove') return false
  const { fields, clears } = toPatch(change)
  return fields !== undefined || clears !== undefined
}

function toPatch(change: ChangeOf<'replace' | 'update'>): PlantPatch {
  if (change.type === 'update') return change.patch
  const { name, tag = null, fields, clears } = change
  return { name, tag, fields, clears }
}

/** The statement that makes a change, and its parameters. */
function toStatement(change: Change, stored?: StoredPlant): [text: string, values: unknown[]] {
  const { id } = change
  if (change.type === 'remove') return [REMOVE, [id]]
  const patch = toPatch(change)
  const content = stored ? { ...patch, fields: mergeFields(stored.fields, patch) ?? null } : patch
  return [
    UPDATE,
    [id, ...CONTENT_COLUMNS.flatMap((column) => [content[column] !== undefined, content[column]])],
  ]
}

const RETURNING = `RETURNING ${PLANT_COLUMNS}`

/** Changes a plant, whatever its content. */
async function changeAny(client: Client, change: Change): Promise<PlantRow | 'plant-not-found'> {
  const [text, values] = toStatement(change)
  const [changed] = await client.change<PlantRow>(`${text} ${RETURNING}`, values)
  return changed ?? 'plant-not-found'
}

/** Reads the plant first, and changes it only if it still has the content that was read. */
function changeFound(client: Client, change: Change): Promise<PlantRow | NoMatch> {
  return retryOptimistically(async () => {
    const [stored] = await client.query<PlantRow>(FIND, [change.id])
    if (stored === undefined) return 'plant-not-found'
    const plant = toPlant(stored)
    if (!isExpected(plant, change.expected)) return 'plant-changed'
    const [text, values] = toStatement(change, plant)
    const conditional = `${text} AND ${hasContent(values.length + 1)} ${RETURNING}`
    const given = [...values, ...contentValues(plant)]
    const [changed] = await client.change<PlantRow>(conditional, given)
    return changed
  })
}
