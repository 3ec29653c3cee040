/** Runs in a thread of its own: waiting for the disk or for a lock must not keep requests waiting. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { Checkpointer } from './checkpointer.ts'
import { type DatabaseOptions, openDatabase } from './database.ts'
import type { WriterReply, WriterRequest } from './threaded-writer.ts'
import { type Change, type ChangeResult, Writer } from './writer.ts'

/** While SQLite itself waits for a lock, in milliseconds, the process cannot end. */
const WAIT = 100

const options: DatabaseOptions = workerData
const { lockTimeout } = options
const db = openDatabase(options)
db.pragma(`busy_timeout = ${Math.min(WAIT, lockTimeout)}`)
const writer = new Writer(db)
const checkpointer = new Checkpointer(db, options)

parentPort?.on('message', async (request: WriterRequest) => {
  if (request !== 'close') {
    parentPort?.postMessage(replyTo(request))
    return checkpointer.committed()
  }
  await checkpointer.close()
  writer.close()
  parentPort?.close()
})

/** An error loses its class on the way to the other thread, so the one that matters is spelt out. */
function replyTo({ changes, until }: Exclude<WriterRequest, 'close'>): WriterReply {
  try {
    return { results: commit(changes, until) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) return { error }
    return { unavailable: { reason: error.reason, detail: error.detail } }
  }
}

function commit(changes: readonly Change[], until: number): ChangeResult[] {
  for (;;) {
    try {
      return writer.commit(changes)
    } catch (error) {
      const locked = error instanceof StoreUnavailable && error.reason === 'busy'
      if (!locked || Date.now() >= until) throw error
    }
  }
}
