import type { CreateResult, NewPlant, Plant } from '../../../service/plant-store.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import type { Connections } from './connections.ts'
import { columnsOf, INSERT, isSame } from './plant-columns.ts'

/**
 * With the lock, which has to be on the standbys before the answer as any change has. Without it a row could
 * be seen that is not there yet, a replay acknowledged, and both lost with the server.
 */
const FIND = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR KEY SHARE'

/**
 * Creates plants that have arrived together, in their order, and resolves to their results; each is done as
 * if it were alone.
 *
 * @throws StoreUnavailable if it cannot be done now; some may have been created all the same
 */
export async function createPlants(
  connections: Connections,
  plants: readonly NewPlant[],
): Promise<CreateResult[]> {
  const stored = new Map<bigint, Plant>()
  const created = new Set<bigint>()
  let open = firstOfEach(plants)
  // A plant that was in the way may be removed before we see which it was.
  while (open.length > 0) {
    const free = await connections.query<{ id: bigint }>(INSERT, columnsOf(open))
    for (const { id } of free) created.add(id)
    const taken = open.filter(({ id }) => !created.has(id))
    if (taken.length > 0) {
      const rows = await connections.query<PlantRow>(FIND, [taken.map(({ id }) => id)])
      for (const row of rows) stored.set(row.id, plantOf(row))
    }
    open = taken.filter(({ id }) => !stored.has(id))
  }
  return plants.map((plant) => {
    const present = stored.get(plant.id)
    if (present !== undefined) return isSame(present, plant) ? 'replayed' : 'conflict'
    stored.set(plant.id, plant)
    return 'created'
  })
}

/** A statement can insert an id only once. */
function firstOfEach(plants: readonly NewPlant[]): NewPlant[] {
  const ids = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!ids.has(plant.id)) ids.set(plant.id, plant)
  return [...ids.values()]
}
