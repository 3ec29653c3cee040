/** Follows a store that another thread owns, and sends each change. */
import { parentPort } from 'node:worker_threads'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { latest, pageOf } from '../changes.ts'
import { followingThread, type Seen } from './following-thread.ts'

const { options, link } = followingThread.data
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
