import { resolve } from 'node:path'
import type { Engine } from '../engine.ts'
import { IN_MEMORY } from '../in-memory.ts'
import type { SqliteLink } from './sqlite-store.ts'

/** SQLite: a file, or the memory of this process. */
export const sqlite: Engine = {
  matches: () => true,

  locate: (database) => (database === IN_MEMORY ? { memory: true } : { file: resolve(database) }),

  async open({ database, ...options }) {
    const { SqliteStore } = await import('./sqlite-store.ts')
    return new SqliteStore({ file: database, ...options })
  },

  // The thread that owns the store applies the retention.
  async join({ database, retention: _, ...options }, link) {
    const { SqliteStore } = await import('./sqlite-store.ts')
    return new SqliteStore({ file: database, ...options }, link as SqliteLink)
  },

  async *check({ database, lockTimeout }) {
    const { checkDatabase } = await import('./check.ts')
    yield* checkDatabase({ file: database, lockTimeout })
  },

  async backUp(options) {
    const { backUpDatabase } = await import('./backup.ts')
    return backUpDatabase(options)
  },
}
