/** Follows a store that another thread owns: sends 'ready', then each change. Ends after the removal of a plant. */
import { parentPort, workerData } from 'node:worker_threads'
import type { SqliteOptions } from '../../../src/stores/sqlite/file/database.ts'
import { type SqliteLink, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { latest, pageOf } from '../changes.ts'

export interface Work {
  readonly options: SqliteOptions
  readonly link: SqliteLink
}

/** What the thread has seen. The time is that of `process.hrtime.bigint`, which all threads share. */
export interface Seen {
  readonly id: bigint
  readonly at: bigint
}

const { options, link }: Work = workerData
const store = new SqliteStore(options, link)
let cursor = await latest(store)
parentPort?.postMessage('ready')

for (let isFollowing = true; isFollowing; ) {
  const committed = store.nextCommit()
  const { changes, next } = await pageOf(store, cursor)
  for (const { id, type } of changes) {
    parentPort?.postMessage({ id, at: process.hrtime.bigint() } satisfies Seen)
    isFollowing &&= type !== 'removed'
  }
  cursor = next
  if (isFollowing && changes.length === 0) await committed
}
await store.close()
