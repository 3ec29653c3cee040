/** Commits in a thread of its own, so that requests do not wait for the disk or for locks. */
import { parentPort } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { Checkpointer } from './checkpointer.ts'
import { openDatabase } from './database.ts'
import { type WriterReply, type WriterRequest, writerThread } from './threaded-writer.ts'
import { type Change, type ChangeResult, Writer } from './writer.ts'

/** SQLite waits for a lock at most this long at a time, because the process cannot end while it waits. */
const BUSY_TIMEOUT_MS = 100

const options = writerThread.data
const db = openDatabase(options)
db.pragma(`busy_timeout = ${Math.min(BUSY_TIMEOUT_MS, options.lockTimeout)}`)
const writer = new Writer(db)
const checkpointer = new Checkpointer(db, options)

parentPort?.on('message', async (request: WriterRequest) => {
  if (request !== 'close') {
    parentPort?.postMessage(replyTo(request))
    return checkpointer.afterCommit()
  }
  await checkpointer.close()
  writer.close()
  parentPort?.close()
})

/** Sends StoreUnavailable as its properties, because errors lose their class between threads. */
function replyTo({ changes, deadline }: Exclude<WriterRequest, 'close'>): WriterReply {
  try {
    return { results: commit(changes, deadline) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) return { error }
    return { unavailable: { reason: error.reason, detail: error.detail } }
  }
}

function commit(changes: readonly Change[], deadline: number): ChangeResult[] {
  for (;;) {
    try {
      return writer.commit(changes)
    } catch (error) {
      const isLocked = error instanceof StoreUnavailable && error.reason === 'busy'
      if (!isLocked || Date.now() >= deadline) throw error
    }
  }
}
