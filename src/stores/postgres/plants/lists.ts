import { type ChangeResult, isRefusal, type StoredPlant } from '../../../../service/plant-store.ts'
import { type ChangeList, decide } from '../../shared/plant-change.ts'
import { PLANT_COLUMNS, type PlantRow, toPlant } from '../../shared/rows.ts'
import { AWAIT_STANDBYS } from '../connection/locks.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'
import { SET_GIVEN, toColumns, UNNESTED } from './plant-columns.ts'
import { IdTaken, insertAll, insertingTransaction } from './plant-inserts.ts'

/** The lock keeps the plants unchanged until the end of the transaction. Ordered by id against deadlocks. */
const FIND = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::int8[]) ORDER BY id FOR UPDATE`

/** Without locks, which would be taken out of order. */
const FIND_IDS = 'SELECT id FROM plants WHERE id = ANY($1::int8[])'

const REPLACE = `
  UPDATE plants ${SET_GIVEN} FROM ${UNNESTED} WHERE plants.id = given.id`

const REMOVE = 'DELETE FROM plants WHERE id = ANY($1::int8[])'

/** The effect of a list on a plant. */
interface Effect {
  readonly before: StoredPlant | undefined
  readonly after: StoredPlant | undefined
}

/** The effects on plants, by their ids. */
type Effects = ReadonlyMap<bigint, Effect>

/**
 * Applies lists in one transaction, as if one after the other, and resolves to their results in the same order. See
 * PlantStore.apply.
 *
 * @throws StoreUnavailable if they cannot be applied now
 */
export function applyLists(
  client: Pick<PooledClient, 'transaction'>,
  lists: readonly ChangeList[],
): Promise<ChangeResult[][]> {
  return insertingTransaction(client, (run) => attemptLists(run, lists))
}

/** Applies lists in a transaction of `insertingTransaction`. */
export async function attemptLists(
  run: Run,
  lists: readonly ChangeList[],
): Promise<ChangeResult[][]> {
  const ids = [...new Set(lists.flatMap(({ changes }) => changes.map(({ id }) => id)))]
  const rows = await run<PlantRow>(FIND, [ids])
  const plants = new Map(rows.map((row) => [row.id, toPlant(row)]))
  const free = new Set(ids.filter((id) => !plants.has(id)))
  const planned = lists.map((list) => planList(plants, list))
  const rounds = separate(planned.map(({ effects }) => effects))
  for (const [id] of rounds.flatMap((effects) => [...effects])) free.delete(id)
  if (free.size > 0) {
    // Without the wait, a plant that an earlier attempt removed could be back after a failover.
    await run(AWAIT_STANDBYS)
    // While the first statement waited for a lock, others can have created plants that it did not see.
    const again = await run(FIND_IDS, [ids])
    if (again.length > rows.length) throw new IdTaken()
  }
  for (const effects of rounds) await write(run, effects)
  return planned.map(({ results }) => results)
}

/** @param plants those with the ids of the list, as they are before it; changed to those after it */
function planList(plants: Map<bigint, StoredPlant>, { changes, mode }: ChangeList) {
  const effects = new Map<bigint, Effect>()
  const results = changes.map((change) => {
    const { id } = change
    const before = plants.get(id)
    const { after: stored } = effects.get(id) ?? { after: before }
    const { result, after } = decide(stored, change)
    if (after !== stored) effects.set(id, { before, after })
    return result
  })
  if (mode === 'all-or-none' && results.some(isRefusal)) effects.clear()
  for (const [id, { before, after }] of effects) {
    if (after === undefined) plants.delete(id)
    else plants.set(id, after)
    // Created and removed again, so there is nothing to write.
    if (before === after) effects.delete(id)
  }
  return { results, effects }
}

/**
 * Merges the effects of lists into as few rounds as possible. Each round affects a plant at most once, so that the feed
 * has every change.
 */
function separate(lists: readonly Effects[]): Effects[] {
  let last = new Map<bigint, Effect>()
  const rounds = [last]
  for (const effects of lists) {
    if ([...effects.keys()].some((id) => last.has(id))) {
      last = new Map()
      rounds.push(last)
    }
    for (const [id, effect] of effects) last.set(id, effect)
  }
  return rounds
}

async function write(run: Run, effects: Effects): Promise<void> {
  const created: StoredPlant[] = []
  const updated: StoredPlant[] = []
  const removed: bigint[] = []
  for (const [id, { before, after }] of effects) {
    if (after === undefined) removed.push(id)
    else if (before === undefined) created.push(after)
    else updated.push(after)
  }
  // Inserts can wait for other transactions, so they come first, while this one has only locked plants: no insert waits
  // for a lock.
  await insertAll(run, created)
  if (updated.length > 0) await run(REPLACE, toColumns(updated))
  if (removed.length > 0) await run(REMOVE, [removed])
}
