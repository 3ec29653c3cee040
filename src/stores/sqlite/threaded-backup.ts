import { StoreError } from '../store-error.ts'
import type { Copied, CopyOptions, OnProgress } from './backup.ts'
import { startThread } from './thread.ts'

/** What the thread tells. */
export type News =
  | { readonly done: number; readonly total: number }
  | { readonly copied: Copied }
  | { readonly refused: string }

/** As copyDatabase has it. */
export function copyInThread(options: CopyOptions, onProgress: OnProgress): Promise<Copied> {
  const { promise, resolve, reject } = Promise.withResolvers<Copied>()
  const thread = startThread('backup-thread', { workerData: options })
  thread.on('error', reject)
  thread.on('message', (news: News) => {
    if ('copied' in news) resolve(news.copied)
    else if ('refused' in news) reject(new StoreError(news.refused))
    else onProgress(news.done, news.total)
  })
  return promise
}
