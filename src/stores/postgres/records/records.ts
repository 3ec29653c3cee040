import type {
  ApplyMode,
  RecordChange,
  RecordKey,
  RecordKind,
  RecordList,
  StoredRecord,
} from '../../../../service/store/record-store.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from '../../shared/rows.ts'
import { LOCK_STORE } from '../connection/locks.ts'
import type { PooledClient, Run } from '../connection/pooled-client.ts'
import { NOW_MS } from '../feed/change-tables.ts'

const RECORDS = `SELECT ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = $1`

/** The first row has only the time. */
export const LIST = `
  SELECT ${NOW_MS} AS now, NULL AS kind, NULL AS key, NULL AS alias, NULL AS value
  UNION ALL
  SELECT NULL, ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = ANY($1::text[])`

const COUNT = 'SELECT count(*) AS count FROM plant_store_records WHERE kind = $1'
const ADD = `
  INSERT INTO plant_store_records (kind, key, alias, value) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING RETURNING key`
const REPLACE = `
  UPDATE plant_store_records SET value = $4 WHERE kind = $1 AND key = $2 AND value = $3
  RETURNING key`
const REPLACE_ALL = `
  UPDATE plant_store_records AS record SET value = given.next
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    WITH ORDINALITY AS given (kind, key, expected, next, position)
  WHERE (record.kind, record.key, record.value) = (given.kind, given.key, given.expected)
  RETURNING given.position`
const REMOVE =
  'DELETE FROM plant_store_records WHERE kind = $1 AND key = $2 AND value = $3 RETURNING key'

/** See RecordStore.findRecord. */
export async function findRecord(
  run: Run,
  kind: RecordKind,
  key: RecordKey,
): Promise<StoredRecord | undefined> {
  const [row] =
    'key' in key
      ? await run<RecordRow>(`${RECORDS} AND key = $2`, [kind, key.key])
      : await run<RecordRow>(`${RECORDS} AND alias = $2`, [kind, key.alias])
  return row && toRecord(row)
}

/** See RecordStore.listRecords. */
export async function listRecords(run: Run, kinds: readonly RecordKind[]): Promise<RecordList> {
  const [first, ...rows] = await run<RecordRow & { now: bigint }>(LIST, [kinds])
  return {
    now: Number(first?.now),
    // Sorted here, because the server's order depends on its locale. UTF-8 sorts by code point.
    records: rows
      .map(toRecord)
      .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key))),
  }
}

/** See RecordStore.changeRecords. */
export async function changeRecords(
  client: Pick<PooledClient, 'change' | 'transaction'>,
  changes: readonly RecordChange[],
  mode: ApplyMode,
): Promise<boolean[]> {
  const [first] = changes
  if (first !== undefined && changes.length === 1 && first.max === undefined) {
    return [await changeOne((text, values) => client.change(text, values), first)]
  }
  try {
    return await client.transaction(async (run) => {
      // Only one transaction at a time counts records, or changes several, which could deadlock.
      await run(LOCK_STORE)
      const results = await changeSeveral(run, changes)
      if (mode === 'all-or-none' && results.includes(false)) throw new NotChanged()
      return results
    })
  } catch (error) {
    if (error instanceof NotChanged) return changes.map(() => false)
    throw error
  }
}

/** Thrown to roll back. */
class NotChanged extends Error {}

/** Makes changes in a transaction that has the lock of the store. */
async function changeSeveral(run: Run, changes: readonly RecordChange[]): Promise<boolean[]> {
  const results: boolean[] = []
  if (changes.every(({ expected, next }) => expected !== undefined && next !== undefined)) {
    const columns = [
      changes.map(({ kind }) => kind),
      changes.map(({ key }) => key),
      changes.map(({ expected }) => expected),
      changes.map(({ next }) => next),
    ]
    const replaced = await run<{ position: bigint }>(REPLACE_ALL, columns)
    const positions = new Set(replaced.map(({ position }) => Number(position)))
    return changes.map((_, index) => positions.has(index + 1))
  }
  for (const change of changes) results.push(await changeOne(run, change))
  return results
}

/** Makes a change. If it has a `max`, the transaction must have the lock of the store. */
export async function changeOne(run: Run, change: RecordChange): Promise<boolean> {
  const { kind, key, expected, next, alias, max } = change
  if (next === undefined) return (await run(REMOVE, [kind, key, expected])).length > 0
  if (expected !== undefined) return (await run(REPLACE, [kind, key, expected, next])).length > 0
  if (max !== undefined) {
    const [row] = await run<{ count: bigint }>(COUNT, [kind])
    if (Number(row?.count) >= max) return false
  }
  return (await run(ADD, [kind, key, alias, next])).length > 0
}
