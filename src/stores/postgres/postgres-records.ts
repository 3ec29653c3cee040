import type {
  RecordChange,
  RecordKey,
  RecordKind,
  StoredRecord,
} from '../../../service/record-store.ts'
import { type RecordRow, toRecord } from '../shared/rows.ts'
import { LOCK_STORE } from './connection/locks.ts'
import type { PooledClient, Run } from './connection/pooled-client.ts'

const RECORDS = 'SELECT key, alias, value FROM plant_store_records WHERE kind = $1'
const COUNT = 'SELECT count(*) AS count FROM plant_store_records WHERE kind = $1'
const ADD = `
  INSERT INTO plant_store_records (kind, key, alias, value) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING RETURNING key`
const REPLACE = `
  UPDATE plant_store_records SET value = $4 WHERE kind = $1 AND key = $2 AND value = $3
  RETURNING key`
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
export async function listRecords(run: Run, kind: RecordKind): Promise<StoredRecord[]> {
  const rows = await run<RecordRow>(RECORDS, [kind])
  // Sorted here, because the server's order depends on its locale. UTF-8 sorts by code point.
  return rows
    .map(toRecord)
    .sort((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)))
}

/** See RecordStore.changeRecords. */
export async function changeRecords(
  client: Pick<PooledClient, 'change' | 'transaction'>,
  changes: readonly RecordChange[],
): Promise<boolean[]> {
  const [first] = changes
  if (first !== undefined && changes.length === 1 && first.max === undefined) {
    return [await changeOne((text, values) => client.change(text, values), first)]
  }
  return client.transaction(async (run) => {
    // Only one transaction at a time counts records, or changes several, which could deadlock.
    await run(LOCK_STORE)
    const results: boolean[] = []
    for (const change of changes) results.push(await changeOne(run, change))
    return results
  })
}

/** Makes a change. If it has a `max`, the transaction must have the lock of the store. */
async function changeOne(run: Run, change: RecordChange): Promise<boolean> {
  const { kind, key, expected, next, alias, max } = change
  if (next === undefined) return (await run(REMOVE, [kind, key, expected])).length > 0
  if (expected !== undefined) return (await run(REPLACE, [kind, key, expected, next])).length > 0
  if (max !== undefined) {
    const [row] = await run<{ count: bigint }>(COUNT, [kind])
    if (Number(row?.count) >= max) return false
  }
  return (await run(ADD, [kind, key, alias, next])).length > 0
}
