/** Runs in a thread of its own: to write back a long log takes longer than a commit should wait. */
import { parentPort, workerData } from 'node:worker_threads'
import { checkpoint, type Errand } from './checkpointer.ts'
import { openDatabase } from './database.ts'

const db = openDatabase(workerData)
const writeBack = checkpoint(db, 'PASSIVE')

parentPort?.on('message', (errand: Errand) => {
  if (errand === 'close') {
    db.close()
    return parentPort?.close()
  }
  writeBack()
  // What has come meanwhile takes less time, so less is left after it.
  writeBack()
  parentPort?.postMessage('done')
})
parentPort?.postMessage('ready')
