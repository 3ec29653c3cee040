import {
  type BatchResult,
  hasSameContent,
  type NewPlant,
  type Plant,
} from '../../../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../plant-row.ts'
import type { Run, Session } from '../connection/session.ts'
import { insertAll, insertingTransaction } from './plant-inserts.ts'

/**
 * The lock makes a replay wait for the standbys, as in creates.ts. It also keeps replayed plants unchanged until the
 * others are stored, so that all plants of a batch are stored at once. Ordered by id against deadlocks.
 */
const FIND = 'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR SHARE'

/**
 * Creates batches in one transaction, as if one after the other, and resolves to their results in the same order. See
 * PlantStore.createAll.
 *
 * @throws StoreUnavailable if they cannot be created now
 */
export function createBatches(
  session: Pick<Session, 'transaction'>,
  batches: readonly (readonly NewPlant[])[],
): Promise<BatchResult[]> {
  return insertingTransaction(session, (run) => attemptBatches(run, batches))
}

async function attemptBatches(
  run: Run,
  batches: readonly (readonly NewPlant[])[],
): Promise<BatchResult[]> {
  const rows = await run<PlantRow>(FIND, [batches.flat().map(({ id }) => id)])
  const stored = new Map<bigint, Plant>(rows.map((row) => [row.id, toPlant(row)]))
  const created: NewPlant[] = []
  const results: BatchResult[] = []
  for (const plants of batches) {
    const conflict = plants.find((plant) => isConflict(stored.get(plant.id), plant))
    if (conflict !== undefined) {
      results.push({ conflict: conflict.id })
      continue
    }
    const fresh = plants.filter(({ id }) => !stored.has(id))
    for (const plant of fresh) stored.set(plant.id, plant)
    created.push(...fresh)
    results.push({ created: fresh.length, replayed: plants.length - fresh.length })
  }
  await insertAll(run, created)
  return results
}

function isConflict(stored: Plant | undefined, plant: NewPlant): boolean {
  return stored !== undefined && !hasSameContent(stored, plant)
}
