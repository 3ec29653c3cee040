/** Runs in a thread of its own: a verification must not keep a signal or the progress bar waiting. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreError } from '../store-error.ts'
import { copyDatabase } from './backup.ts'
import type { BackupMessage } from './threaded-backup.ts'

const tell = (message: BackupMessage) => parentPort?.postMessage(message)

try {
  const copied = await copyDatabase(workerData, (done, total) => tell({ done, total }))
  tell({ copied })
} catch (error) {
  // An error loses its class on the way to the other thread.
  if (!(error instanceof StoreError)) throw error
  tell({ refused: error.message })
}
