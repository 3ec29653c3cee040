import { ThreadModule } from '../../threads/thread-module.ts'
import type { BackupSummary, OnProgress } from '../engine.ts'
import { StoreError } from '../store-error.ts'
import type { CopyOptions } from './copy.ts'

export const backupThread = new ThreadModule<CopyOptions>('backup-thread', import.meta.url)

/** Sent by the thread: any number of progress messages, then one of the others. */
export type BackupMessage =
  | { readonly copied: number; readonly total: number }
  | { readonly summary: BackupSummary }
  | { readonly storeError: string }

/** Runs copyDatabase in a thread of its own. */
export function copyInThread(options: CopyOptions, onProgress: OnProgress): Promise<BackupSummary> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupSummary>()
  const thread = backupThread.start(options, { name: 'plant-backup' })
  thread.on('error', reject)
  thread.on('message', (message: BackupMessage) => {
    if ('summary' in message) resolve(message.summary)
    else if ('storeError' in message) reject(new StoreError(message.storeError))
    else onProgress(message.copied, message.total)
  })
  return promise
}
