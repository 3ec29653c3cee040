/** Writes the WAL back in a thread of its own, because that can take longer than a commit should wait. */
import {
  type CheckpointReply,
  type CheckpointRequest,
  checkpointThread,
  prepareCheckpoint,
} from './checkpointer.ts'
import { openDatabase } from './database.ts'

const { port, ...options } = checkpointThread.data
const db = openDatabase(options)
const checkpoint = prepareCheckpoint(db, 'PASSIVE')

port.on('message', (request: CheckpointRequest) => {
  if (request === 'close') {
    db.close()
    return port.close()
  }
  const start = performance.now()
  checkpoint()
  // Commits have extended the WAL meanwhile. The second pass is shorter, so it leaves less to the writer.
  checkpoint()
  port.postMessage((performance.now() - start) satisfies CheckpointReply)
})
port.postMessage('ready' satisfies CheckpointReply)
