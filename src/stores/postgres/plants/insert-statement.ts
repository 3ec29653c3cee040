import type { NewPlant } from '../../../../service/store/plant-store.ts'
import { PLANT_COLUMNS } from '../../shared/rows.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'
import { toColumns, UNNESTED } from './plant-columns.ts'

/** Thrown to roll a transaction back, because another one has taken an id that was free. */
export class IdTaken extends Error {}

/**
 * Inserts plants with distinct ids, skips those whose id is taken, and returns the ids of the others. Sorted, because
 * two statements that insert the same ids in different orders would deadlock.
 */
export const INSERT = `
  INSERT INTO plants (${PLANT_COLUMNS}) SELECT ${PLANT_COLUMNS} FROM ${UNNESTED} ORDER BY id
  ON CONFLICT (id) DO NOTHING RETURNING id`

/** Inserts plants whose ids were free, in a transaction that `insertingTransaction` repeats if one no longer is. */
export async function insertAll(run: Run, plants: readonly NewPlant[]): Promise<void> {
  if (plants.length === 0) return
  const inserted = await run(INSERT, toColumns(plants))
  if (inserted.length < plants.length) throw new IdTaken()
}

/** Runs a transaction that inserts plants, and repeats it if another one has taken an id. */
export function insertingTransaction<Result>(
  client: Pick<PooledClient, 'transaction'>,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  return retryOptimistically(async () => {
    try {
      return await client.transaction(work)
    } catch (error) {
      if (!(error instanceof IdTaken)) throw error
    }
  })
}
