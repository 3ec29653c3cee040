/** Copies a database in a thread of its own, so that signals and the progress bar do not wait for it. */
import { parentPort } from 'node:worker_threads'
import { StoreError } from '../../store-error.ts'
import { copyDatabase } from './copy.ts'
import { lowerPriority } from './low-priority.ts'
import { type BackupMessage, backupThread } from './threaded-backup.ts'

const send = (message: BackupMessage) => parentPort?.postMessage(message)

if (backupThread.data.bytesPerSecond !== undefined) lowerPriority()

try {
  const onProgress = (copied: number, total: number) => send({ copied, total })
  send({ summary: await copyDatabase(backupThread.data, onProgress) })
} catch (error) {
  // Errors lose their class between threads.
  if (!(error instanceof StoreError)) throw error
  send({ storeError: error.message })
}
