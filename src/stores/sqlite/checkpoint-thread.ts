/** Runs in a thread of its own: to write back a long log takes longer than a commit should wait. */
import { workerData } from 'node:worker_threads'
import { type CheckpointOptions, type CheckpointRequest, checkpoint } from './checkpointer.ts'
import { openDatabase } from './database.ts'

const { port, ...options }: CheckpointOptions = workerData
const db = openDatabase(options)
const writeBack = checkpoint(db, 'PASSIVE')

port.on('message', (request: CheckpointRequest) => {
  if (request === 'close') {
    db.close()
    return port.close()
  }
  writeBack()
  // What has come meanwhile takes less time, so less is left after it.
  writeBack()
  port.postMessage('done')
})
port.postMessage('ready')
