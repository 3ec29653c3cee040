import { known } from '../../../../core/known.ts'
import {
  type ChangeResult,
  isRefusal,
  LIST_TEXT_MAX,
  type ListResult,
  type StoredPlant,
} from '../../../../service/store/plant-store.ts'
import type { Postponed } from '../../shared/group-commit.ts'
import {
  type ChangeList,
  decide,
  type Effect,
  isLarge,
  listTextMax,
  measureEffect,
  textBytes,
} from '../../shared/plant-change.ts'
import { PLANT_COLUMNS, type PlantRow, toPlant } from '../../shared/rows.ts'
import { AWAIT_STANDBYS } from '../connection/locks.ts'
import { CAN_CHANGE } from '../connection/permissions.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'
import { IdTaken, insertAll, insertingTransaction } from './insert-statement.ts'
import {
  isRead,
  type LimitedRow,
  limitText,
  SET_GIVEN,
  toColumns,
  UNNESTED,
} from './plant-columns.ts'

/**
 * The lock keeps the plants unchanged until the end of the transaction. Ordered by id against deadlocks. Reads small
 * plants first, so that lists of such plants need no statement of their own.
 */
const FIND = limitText(
  `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::int8[]) AND ${CAN_CHANGE} ORDER BY id FOR UPDATE`,
  { order: 'bytes, id', condition: 'total <= $2::int8' },
)

/** The text of plants that FIND has not read. */
const READ = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::int8[])`

/** Without locks, which would be taken out of order. */
const FIND_IDS = 'SELECT id FROM plants WHERE id = ANY($1::int8[])'

const REPLACE = `
  UPDATE plants ${SET_GIVEN} FROM ${UNNESTED} WHERE plants.id = given.id`

const REMOVE = 'DELETE FROM plants WHERE id = ANY($1::int8[])'

/** The effects of a list on plants, by their ids. */
type Effects = ReadonlyMap<bigint, Effect>

interface MeasuredRow extends PlantRow {
  /** The length of its text. */
  readonly bytes: number
}

/** What became of a list in a transaction. */
type Applied = ListResult | Postponed

/**
 * Applies lists in one transaction, as if one after the other, and resolves to their results in the same order. See
 * PlantStore.apply. Once the lists affect LIST_TEXT_MAX, it postpones others with changes of large plants.
 *
 * @throws StoreUnavailable if they cannot be applied now
 */
export function applyLists(
  client: Pick<PooledClient, 'transaction'>,
  lists: readonly ChangeList[],
): Promise<Applied[]> {
  return insertingTransaction(client, (run) => attemptLists(run, lists))
}

/** Applies lists in a transaction of `insertingTransaction`. */
export async function attemptLists(run: Run, lists: readonly ChangeList[]): Promise<Applied[]> {
  const ids = [...new Set(lists.flatMap(({ changes }) => changes.map(({ id }) => id)))]
  const rows = await run<LimitedRow<MeasuredRow>>(FIND, [ids, LIST_TEXT_MAX])
  const plants = new Map(rows.filter(isRead).map((row) => [row.id, toPlant(row)]))
  const unread = new Set(rows.filter((row) => !isRead(row)).map(({ id }) => id))
  const lengths = new Map(rows.map(({ id, bytes }) => [id, bytes]))
  const free = new Set(ids)
  for (const { id } of rows) free.delete(id)
  const applied: Applied[] = []
  const effects: Effects[] = []
  let affected = 0
  for (const list of lists) {
    const { changes } = list
    if (affected >= LIST_TEXT_MAX && changes.some((each) => isLarge(each, lengths.get(each.id)))) {
      applied.push('postponed')
      continue
    }
    const missing = [...new Set(changes.map(({ id }) => id))].filter((id) => unread.has(id))
    const bytes = missing.reduce((sum, id) => sum + known(lengths.get(id)), 0)
    if (bytes > listTextMax(list)) {
      applied.push('too-large')
      continue
    }
    if (missing.length > 0) {
      for (const row of await run<PlantRow>(READ, [missing])) plants.set(row.id, toPlant(row))
      for (const id of missing) unread.delete(id)
    }
    const plan = planList(plants, list)
    affected += plan.affected
    applied.push(plan.results ?? 'too-large')
    effects.push(plan.effects)
    for (const [id, { after }] of plan.effects) lengths.set(id, after ? textBytes(after) : 0)
  }
  const rounds = separate(effects)
  for (const [id] of rounds.flatMap((effects) => [...effects])) free.delete(id)
  if (free.size > 0) {
    // Without the wait, a plant that an earlier attempt removed could be back after a failover.
    await run(AWAIT_STANDBYS)
    // While the first statement waited for a lock, others can have created plants that it did not see.
    const again = await run(FIND_IDS, [ids])
    if (again.length > rows.length) throw new IdTaken()
  }
  for (const effects of rounds) await write(run, effects)
  return applied
}

interface PlannedList {
  /** Undefined if the list affects too much text. */
  readonly results?: ChangeResult[]
  readonly effects: Effects
  /** How much text it affects, in bytes. If that is too much, only a part was measured. */
  readonly affected: number
}

/** @param plants those with the ids of the list, as they are before it; changed to those after it */
function planList(plants: Map<bigint, StoredPlant>, list: ChangeList): PlannedList {
  const { changes, mode } = list
  const effects = new Map<bigint, Effect>()
  const results: ChangeResult[] = []
  let affected = 0
  for (const change of changes) {
    const { id } = change
    const before = plants.get(id)
    const { after: stored } = effects.get(id) ?? { after: before }
    const { result, after } = decide(stored, change)
    affected += measureEffect({ before: stored, after })
    if (affected > listTextMax(list)) return { effects: new Map(), affected }
    if (after !== stored) effects.set(id, { before, after })
    results.push(result)
  }
  if (mode === 'all-or-none' && results.some(isRefusal)) effects.clear()
  for (const [id, { before, after }] of effects) {
    if (after === undefined) plants.delete(id)
    else plants.set(id, after)
    // Created and removed again, so there is nothing to write.
    if (before === after) effects.delete(id)
  }
  return { results, effects, affected }
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
