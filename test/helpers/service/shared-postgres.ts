/** One PostgreSQL server for all the test files of a process, started when the first of them needs it. */
import t from 'tap'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { type PostgresServer, startPostgres } from '../../../tools/postgres/postgres-server.ts'

interface Shared {
  /** Tests that stop the server or leave a setting changed need a server of their own. */
  readonly server: PostgresServer
  /** Creates an empty database and resolves to its URL. */
  emptyDatabase(): Promise<string>
  /** Creates a database with all migrations in a third of the time that they take, and resolves to its URL. */
  migratedDatabase(): Promise<string>
}

let shared: Promise<Shared> | undefined

/** Resolves once the server accepts connections. It runs until the process ends. */
export function sharedPostgres(): Promise<Shared> {
  shared ??= start()
  return shared
}

async function start(): Promise<Shared> {
  const { server, emptyDatabase } = await startPostgres(t)
  let template: Promise<string> | undefined
  const migrate = async () => {
    const url = await emptyDatabase()
    await (await PostgresStore.open({ url, timeout: 60_000 })).close()
    return new URL(url).pathname.slice(1)
  }
  let copies = 0
  const migratedDatabase = async () => {
    template ??= migrate()
    return server.database(`migrated_${++copies}`, await template)
  }
  return { server, emptyDatabase, migratedDatabase }
}
