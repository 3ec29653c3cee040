import type { DatabaseOptions } from '../../../src/stores/sqlite/file/database.ts'
import type { SqliteLink } from '../../../src/stores/sqlite/sqlite-store.ts'
import { ThreadModule } from '../../../src/threads/thread-module.ts'

interface Work {
  readonly options: DatabaseOptions
  readonly link: SqliteLink
}

/** What the thread has seen. The time is that of `process.hrtime.bigint`, which all threads share. */
export interface Seen {
  readonly id: bigint
  readonly at: bigint
}

/** Follows a store: sends 'ready', then each change. Ends after the removal of a plant. */
export const followingThread = new ThreadModule<Work>('follow-in-thread', import.meta.url)
