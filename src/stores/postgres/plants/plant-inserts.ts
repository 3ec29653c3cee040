import type { NewPlant } from '../../../../service/plant-store.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'

/** Thrown to roll a transaction back, because another one has taken an id that was free. */
export class IdTaken extends Error {}

/** Plants as three arrays, the parameters of UNNESTED. */
export function toColumns(
  plants: readonly NewPlant[],
): [ids: bigint[], names: string[], tags: (string | null)[]] {
  return [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ]
}

/** A FROM item with the plants in parameters 1 to 3. */
export const UNNESTED = 'unnest($1::int8[], $2::text[], $3::text[]) AS given (id, name, tag)'

/**
 * Inserts plants with distinct ids, skips those whose id is taken, and returns the ids of the others. Sorted, because
 * two statements that insert the same ids in different orders would deadlock.
 */
export const INSERT = `
  INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM ${UNNESTED} ORDER BY id
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
