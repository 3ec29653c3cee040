import type { CreateResult, NewPlant, Plant } from '../../../../service/store/plant-store.ts'
import type { Postponed } from '../../shared/group-commit.ts'
import { ROW_TEXT_MAX } from '../../shared/page-limits.ts'
import { LARGE_PLANTS, repeatCreate } from '../../shared/plant-change.ts'
import { PLANT_COLUMNS, type PlantRow, toPlant } from '../../shared/rows.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { PooledClient } from '../connection/pooled-client.ts'
import { INSERT } from './insert-statement.ts'
import { isRead, type LimitedRow, limitText, toColumns } from './plant-columns.ts'

/**
 * The lock makes a replay wait for the standbys, as a change does. Without it the row might not be on a standby yet,
 * and an acknowledged replay could be lost with the primary. The first plant is read in any case, so that none waits
 * for ever, and small ones do not wait for large ones.
 */
const FIND = limitText(
  `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR KEY SHARE`,
  {
    order: 'id <> ($1::int8[])[1], bytes, id',
    condition: `bytes <= ${ROW_TEXT_MAX} OR total - bytes < $2::int8`,
  },
)

/**
 * Creates plants in one statement, as if one after the other, and resolves to their results in the same order. Postpones
 * those with taken ids if the stored plants are large.
 *
 * @throws StoreUnavailable if they cannot be created now; some may have been created
 */
export async function createPlants(
  client: Pick<PooledClient, 'change'>,
  plants: readonly NewPlant[],
): Promise<(CreateResult | Postponed)[]> {
  const stored = new Map<bigint, Plant | Postponed>()
  const created = new Set<bigint>()
  let pending = removeRepeatedIds(plants)
  // Repeated if a plant with the same id was removed between the two statements.
  await retryOptimistically(async () => {
    const inserted = await client.change<{ id: bigint }>(INSERT, toColumns(pending))
    for (const { id } of inserted) created.add(id)
    const taken = pending.filter(({ id }) => !created.has(id))
    if (taken.length > 0) {
      const ids = taken.map(({ id }) => id)
      const rows = await client.change<LimitedRow<PlantRow>>(FIND, [ids, LARGE_PLANTS.affectedMax])
      for (const row of rows) stored.set(row.id, isRead(row) ? toPlant(row) : 'postponed')
    }
    pending = taken.filter(({ id }) => !stored.has(id))
    return pending.length === 0 ? true : undefined
  })
  return plants.map((plant) => {
    const present = stored.get(plant.id)
    if (present === 'postponed') return present
    if (present !== undefined) return repeatCreate(present, plant)
    stored.set(plant.id, plant)
    return 'created'
  })
}

/** One statement can insert an id only once. */
function removeRepeatedIds(plants: readonly NewPlant[]): NewPlant[] {
  const ids = new Map<bigint, NewPlant>()
  for (const plant of plants) if (!ids.has(plant.id)) ids.set(plant.id, plant)
  return [...ids.values()]
}
