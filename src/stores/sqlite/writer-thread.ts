/** Runs in a thread of its own: waiting for the disk or for a lock must not keep requests waiting. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { openDatabase } from './database.ts'
import type { Order, Outcome } from './threaded-writer.ts'
import { Writer } from './writer.ts'

const writer = new Writer(openDatabase(workerData))

parentPort?.on('message', (order: Order) => {
  if (order !== 'close') return parentPort?.postMessage(outcomeOf(order))
  writer.close()
  parentPort?.close()
})

/** An error loses its class on the way to the other thread, so the one that matters is spelt out. */
function outcomeOf(changes: Exclude<Order, 'close'>): Outcome {
  try {
    return { results: writer.commit(changes) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) return { error }
    return { unavailable: { reason: error.reason, detail: error.detail } }
  }
}
