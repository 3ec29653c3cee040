import type { ImportResult, NewPlant, OnConflict, Plant } from '../../../service/plant-store.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import type { Connections, Run } from './connections.ts'
import { columnsOf, INSERT, isSame, UNNESTED } from './plant-columns.ts'

/** What is compared stays as it is until the end of the transaction. */
const FIND = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE'

const REPLACE = `
  UPDATE plants SET name = given.name, tag = given.tag FROM ${UNNESTED} WHERE plants.id = given.id`

/** Somebody else was first with an id that was free when we looked. */
class Overtaken extends Error {}

/**
 * As PlantStore has it.
 *
 * @throws StoreUnavailable if it cannot be done now
 */
export async function importPlants(
  connections: Connections,
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): Promise<ImportResult[]> {
  for (;;) {
    try {
      return await connections.transaction((run) => importOnce(run, plants, onConflict))
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
    }
  }
}

async function importOnce(
  run: Run,
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): Promise<ImportResult[]> {
  const rows = await run<PlantRow>(FIND, [plants.map(({ id }) => id)])
  const { results, created, replaced } = judge(rows, plants, onConflict)
  if (created.length > 0) {
    const inserted = await run(INSERT, columnsOf(created))
    if (inserted.length < created.length) throw new Overtaken()
  }
  if (replaced.length > 0) await run(REPLACE, columnsOf(replaced))
  return results
}

interface Judgement {
  readonly results: ImportResult[]
  /** What has to be stored under ids that are free, and in place of what is there. */
  readonly created: NewPlant[]
  readonly replaced: NewPlant[]
}

/** What becomes of plants that are imported one after the other where these rows are. */
function judge(
  rows: readonly PlantRow[],
  plants: readonly NewPlant[],
  onConflict: OnConflict,
): Judgement {
  const stored = new Map<bigint, Plant>(rows.map((row) => [row.id, plantOf(row)]))
  const [created, replaced] = [new Map<bigint, NewPlant>(), new Map<bigint, NewPlant>()]
  const resultOf = (plant: NewPlant): ImportResult => {
    const present = stored.get(plant.id)
    if (present === undefined) {
      created.set(plant.id, plant)
    } else {
      if (isSame(present, plant)) return 'replayed'
      if (onConflict === 'stop') return 'conflict'
      if (onConflict === 'keep') return 'kept'
      const where = created.has(plant.id) ? created : replaced
      where.set(plant.id, plant)
    }
    stored.set(plant.id, plant)
    return present === undefined ? 'created' : 'replaced'
  }
  const results: ImportResult[] = []
  for (const plant of plants) {
    results.push(resultOf(plant))
    if (results.at(-1) === 'conflict') break
  }
  return { results, created: [...created.values()], replaced: [...replaced.values()] }
}
