import { resolve } from 'node:path'
import { type Engine, IN_MEMORY, type StoreOptions } from '../shared/engine.ts'
import { StoreError } from '../shared/store-error.ts'
import { COMPANION_SUFFIXES } from './file/file-modes-check.ts'
import type { SqliteLink, SqliteStore } from './sqlite-store.ts'
import type { SqliteMetrics } from './writer/sqlite-metrics.ts'

const NO_STANDBYS =
  '--require-standbys needs a PostgreSQL server as --database: SQLite has no standbys, and acknowledges a change ' +
  "once it is on this machine's disk"

/** SQLite: a file, or the memory of this process. */
export const sqlite: Engine = {
  matches: () => true,

  locate: (database) =>
    database === IN_MEMORY
      ? { memory: true }
      : { file: resolve(database), suffixes: COMPANION_SUFFIXES },

  async open({ requireStandbys, ...options }) {
    if (requireStandbys !== undefined) throw new StoreError(NO_STANDBYS)
    return openStore(options)
  },

  async openReader({ database, lockTimeout }) {
    const { openReader } = await import('./reads/plant-reader.ts')
    return openReader({ file: database, lockTimeout })
  },

  // The thread that owns the store applies the retention.
  join: ({ retention: _, ...options }, link) => openStore(options, link as SqliteLink),

  async *check({ database, lockTimeout }) {
    const { checkDatabase } = await import('./check/sqlite-check.ts')
    yield* checkDatabase({ file: database, lockTimeout })
  },

  async requireStandbys() {
    throw new StoreError(NO_STANDBYS)
  },

  async backUp(options) {
    const { backUpDatabase } = await import('./backup/database-backup.ts')
    return backUpDatabase(options)
  },

  async openBackups(options) {
    const { SqliteBackupFolder } = await import('./backup/backup-folder.ts')
    return new SqliteBackupFolder(options)
  },

  async restore(options) {
    const { restoreDatabase } = await import('./backup/database-restore.ts')
    return restoreDatabase(options)
  },
}

async function openStore(
  { database, isMeasured, ...options }: StoreOptions,
  link?: SqliteLink,
): Promise<SqliteStore> {
  const { SqliteStore } = await import('./sqlite-store.ts')
  const metrics = isMeasured ? await createMetrics(database) : undefined
  return new SqliteStore({ file: database, metrics, ...options }, link)
}

async function createMetrics(database: string): Promise<SqliteMetrics> {
  const { SqliteMetrics } = await import('./writer/sqlite-metrics.ts')
  return new SqliteMetrics(database !== IN_MEMORY)
}
