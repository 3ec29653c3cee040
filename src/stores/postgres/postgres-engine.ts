import type { Engine } from '../shared/engine.ts'
import { StoreError } from '../shared/store-error.ts'
import { parseConnectionString } from './connection/connection-string.ts'

/** PostgreSQL, and databases that speak its protocol. */
export const postgres: Engine = {
  matches: (database) => /^postgres(ql)?:/.test(database),

  locate(database) {
    const { redacted, hasPassword } = parseConnectionString(database)
    return { server: redacted, hasPassword }
  },

  async open({ database, lockTimeout, ...options }) {
    const { PostgresStore } = await import('./postgres-store.ts')
    return PostgresStore.open({ url: database, timeout: lockTimeout, ...options })
  },

  async openReader({ database, lockTimeout }) {
    const { openReader } = await import('./postgres-database.ts')
    return openReader({ url: database, timeout: lockTimeout })
  },

  async *check({ database, lockTimeout }) {
    const { checkDatabase } = await import('./postgres-check.ts')
    yield* checkDatabase({ url: database, timeout: lockTimeout })
  },

  async requireStandbys({ database, lockTimeout }, required) {
    const { changeRequiredStandbys } = await import('./postgres-database.ts')
    await changeRequiredStandbys({ url: database, timeout: lockTimeout }, required)
  },

  backUp: refuseBackup,
  openBackups: refuseBackup,

  async restore() {
    throw new StoreError(
      'plant-store cannot restore a backup to a server: restore a dump with pg_restore, or a backup to a file, and copy the plants with "plant-store mirror"',
    )
  },
}

async function refuseBackup(): Promise<never> {
  throw new StoreError(
    "plant-store cannot back up a database on a server: use the server's own tools, such as pg_dump or pg_basebackup",
  )
}
