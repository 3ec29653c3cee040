/** Copies a database in a thread of its own, so that signals and the progress bar do not wait for it. */
import { constants, getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { StoreError } from '../store-error.ts'
import { copyDatabase } from './copy.ts'
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

/** Lets the service have the processor first, above all during the verification. On Linux, affects this thread only. */
function lowerPriority(): void {
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  } catch {
    // A sandbox may forbid it.
  }
}
