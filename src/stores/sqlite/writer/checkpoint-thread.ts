/** Writes the WAL back in a thread of its own, because that can take longer than a commit should wait. */

import { openDatabase } from '../file/database.ts'
import { OpenFile } from '../file/file-identity.ts'
import {
  type CheckpointReply,
  type CheckpointRequest,
  checkpointThread,
  prepareCheckpoint,
} from './checkpointer.ts'

const { port, ...options } = checkpointThread.data
const db = openDatabase(options)
const file = new OpenFile(options.file, options.identity, options.damage)
const checkpoint = prepareCheckpoint(db, 'PASSIVE', file.mapError)

port.on('message', (request: CheckpointRequest) => {
  if (request === 'close') {
    db.close()
    return port.close()
  }
  const start = performance.now()
  // Commits extend the WAL during the first pass. The second is shorter, so it leaves less to the writer.
  for (let pass = 0; pass < 2 && file.isInPlace(); pass++) checkpoint()
  port.postMessage((performance.now() - start) satisfies CheckpointReply)
})
port.postMessage('ready' satisfies CheckpointReply)
