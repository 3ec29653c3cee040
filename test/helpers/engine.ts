import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import type { Test } from 'tap'
import { inMemory, makeFolder } from '../../tools/temporary-folders.ts'

/** Where one service stores its plants. */
export interface Place {
  /** Value of the `database` setting. */
  readonly database: string
  /** Runs a query on a connection that is not the service's. */
  query<Row extends object>(sql: string): Promise<Row[]>
}

/** Creates an empty place for one service. It is removed when the test ends. */
export type Engine = (t: Test, options?: PlaceOptions) => Promise<Place>

interface PlaceOptions {
  /** Whether other connections can open the database, by default true. A service in memory starts six times faster. */
  readonly inFile?: boolean
}

export const sqlite: Engine = async (t, { inFile = true } = {}) => {
  const database = inFile ? join(makeFolder(t, inMemory()), 'plants.db') : ':memory:'
  return {
    database,
    async query<Row extends object>(sql: string) {
      const db = new Sqlite(database, { readonly: true }).defaultSafeIntegers()
      try {
        return db.prepare<unknown[], Row>(sql).all()
      } finally {
        db.close()
      }
    },
  }
}

/** Creates each place as a database on the test process's PostgreSQL server. */
export async function postgres(): Promise<Engine> {
  const { sharedPostgres } = await import('./shared-postgres.ts')
  const { migratedDatabase } = await sharedPostgres()
  return async (t) => {
    const database = await migratedDatabase()
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    t.teardown(() => client.end())
    return {
      database,
      query: async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows,
    }
  }
}
