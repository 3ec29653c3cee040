/** One PostgreSQL server for all the test files of a process, started when the first of them needs it. */
import t from 'tap'
import { type PostgresServer, startPostgres } from '../../tools/postgres/server.ts'

interface Shared {
  /** Tests that stop the server or leave a setting changed need a server of their own. */
  readonly server: PostgresServer
  /** Creates an empty database and resolves to its URL. */
  emptyDatabase(): Promise<string>
}

let shared: Promise<Shared> | undefined

/** Resolves once the server accepts connections. It runs until the process ends. */
export function sharedPostgres(): Promise<Shared> {
  shared ??= startPostgres(t)
  return shared
}
