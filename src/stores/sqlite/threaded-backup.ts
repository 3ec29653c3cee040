import { StoreError } from '../store-error.ts'
import type { Copied, CopyOptions, OnProgress } from './backup.ts'
import { startThread } from './thread.ts'

/** What the thread tells. */
export type BackupMessage =
  | { readonly done: number; readonly total: number }
  | { readonly copied: Copied }
  | { readonly refused: string }

/** As copyDatabase has it. */
export function copyInThread(options: CopyOptions, onProgress: OnProgress): Promise<Copied> {
  const { promise, resolve, reject } = Promise.withResolvers<Copied>()
  const thread = startThread('backup-thread', { workerData: options })
  thread.on('error', reject)
  thread.on('message', (message: BackupMessage) => {
    if ('copied' in message) resolve(message.copied)
    else if ('refused' in message) reject(new StoreError(message.refused))
    else onProgress(message.done, message.total)
  })
  return promise
}
