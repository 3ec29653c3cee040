import type { NoMatch, PlantPatch, StoredPlant } from '../../../service/plant-store.ts'
import { contentVersion } from '../../../service/plant-store.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import type { Connections } from './connections.ts'

const FIND = 'SELECT id, name, tag FROM plants WHERE id = $1'

/** Only a plant that is still what it was when we looked. */
const UNCHANGED = 'id = $1 AND name = $2 AND tag IS NOT DISTINCT FROM $3::text'
const UPDATE = `UPDATE plants SET name = $4, tag = $5 WHERE ${UNCHANGED} RETURNING id`
const REMOVE = `DELETE FROM plants WHERE ${UNCHANGED} RETURNING id`

/** As PlantStore has it. */
export async function updatePlant(
  connections: Connections,
  id: bigint,
  patch: PlantPatch,
  expected?: readonly string[],
): Promise<StoredPlant | NoMatch> {
  for (;;) {
    const stored = await findExpected(connections, id, expected)
    if (typeof stored === 'string') return stored
    const { name = stored.name, tag = stored.tag } = patch
    const changed = await connections.query(UPDATE, [id, stored.name, stored.tag, name, tag])
    if (changed.length > 0) return plantOf({ id, name, tag })
  }
}

/** As PlantStore has it. */
export async function removePlant(
  connections: Connections,
  id: bigint,
  expected?: readonly string[],
): Promise<'removed' | NoMatch> {
  for (;;) {
    const stored = await findExpected(connections, id, expected)
    if (typeof stored === 'string') return stored
    const removed = await connections.query(REMOVE, [id, stored.name, stored.tag])
    if (removed.length > 0) return 'removed'
  }
}

async function findExpected(
  connections: Connections,
  id: bigint,
  expected?: readonly string[],
): Promise<PlantRow | NoMatch> {
  const [stored] = await connections.query<PlantRow>(FIND, [id])
  if (stored === undefined) return 'not-found'
  return expected?.includes(contentVersion(plantOf(stored))) === false ? 'changed' : stored
}
