import { truncateSync } from 'node:fs'
import { ThreadModule } from '../../../threads/thread-module.ts'
import type { BackupOptions, BackupSummary } from '../../engine.ts'
import { StoreError } from '../../store-error.ts'
import type { CopyOptions } from './copy.ts'

export const backupThread = new ThreadModule<CopyOptions>('backup-thread', import.meta.url)

/** Sent by the thread: any number of progress messages, then one of the others. */
export type BackupMessage =
  | { readonly copied: number; readonly total: number }
  | { readonly summary: BackupSummary }
  | { readonly storeError: string }

/**
 * Runs copyDatabase in a thread of its own, which `signal` ends.
 *
 * @throws StoreError also if the thread ends before the copy is complete
 */
export async function copyInThread(
  options: CopyOptions,
  { onProgress, signal }: Pick<BackupOptions, 'onProgress' | 'signal'>,
): Promise<BackupSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupSummary>()
  const thread = backupThread.start(options, { name: 'plant-backup' })
  thread.on('error', reject)
  thread.on('message', (message: BackupMessage) => {
    if ('summary' in message) resolve(message.summary)
    else if ('storeError' in message) reject(new StoreError(message.storeError))
    else onProgress(message.copied, message.total)
  })
  thread.on('exit', () => reject(interruptedError(options)))
  const stop = () => {
    endVerification(options.copy)
    void thread.terminate()
  }
  signal.addEventListener('abort', stop)
  try {
    return await promise
  } finally {
    // Before the copy is published: it must not be truncated then.
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Lets the thread end soon. The verification is a single call of SQLite, which can take minutes and cannot be
 * interrupted, but gives up once the file is empty.
 */
function endVerification(copy: string): void {
  try {
    truncateSync(copy)
  } catch {
    // The thread has not created it yet.
  }
}

function interruptedError({ file }: CopyOptions): StoreError {
  return new StoreError(`the backup of the database ${file} was interrupted`)
}
