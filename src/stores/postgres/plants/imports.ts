import { hasSameContent } from '../../../../contract/plant.ts'
import type { ImportResult, NewPlant, OnConflict, Plant } from '../../../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../shared/rows.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'
import { insertAll, insertingTransaction, toColumns, UNNESTED } from './plant-inserts.ts'

/** The lock keeps the plants unchanged until the end of the transaction. */
const FIND = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE'

const REPLACE = `
  UPDATE plants SET name = given.name, tag = given.tag FROM ${UNNESTED} WHERE plants.id = given.id`

/**
 * See PlantStore.importPlants.
 *
 * @throws StoreUnavailable if they cannot be imported now
 */
export function importPlants(
  client: Pick<PooledClient, 'transaction'>,
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): Promise<ImportResult[]> {
  return insertingTransaction(client, (run) => attemptImport(run, plants, onConflict))
}

async function attemptImport(
  run: Run,
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): Promise<ImportResult[]> {
  const rows = await run<PlantRow>(FIND, [plants.map(({ id }) => id)])
  const { results, created, replaced } = planImport(rows, plants, onConflict)
  await insertAll(run, created)
  if (replaced.length > 0) await run(REPLACE, toColumns(replaced))
  return results
}

interface ImportPlan {
  readonly results: ImportResult[]
  readonly created: NewPlant[]
  readonly replaced: NewPlant[]
}

/** Plans inserts and updates with the same result as importing the plants one after the other. */
function planImport(
  rows: readonly PlantRow[],
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): ImportPlan {
  const stored = new Map<bigint, Plant>(rows.map((row) => [row.id, toPlant(row)]))
  const [created, replaced] = [new Map<bigint, NewPlant>(), new Map<bigint, NewPlant>()]
  const plan = (plant: NewPlant): ImportResult => {
    const present = stored.get(plant.id)
    if (present === undefined) {
      created.set(plant.id, plant)
    } else {
      if (hasSameContent(present, plant)) return 'replayed'
      if (onConflict === 'stop') return 'conflict'
      if (onConflict === 'keep') return 'kept'
      const target = created.has(plant.id) ? created : replaced
      target.set(plant.id, plant)
    }
    stored.set(plant.id, plant)
    return present === undefined ? 'created' : 'replaced'
  }
  const results: ImportResult[] = []
  for (const plant of plants) {
    results.push(plan(plant))
    if (results.at(-1) === 'conflict') break
  }
  return { results, created: [...created.values()], replaced: [...replaced.values()] }
}
