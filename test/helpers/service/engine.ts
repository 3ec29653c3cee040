import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import type { Test } from 'tap'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'

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
  /** False for a service that shares the database with nobody: in memory, or a copy, it starts several times faster. */
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
  const { emptyDatabase, migratedDatabase } = await sharedPostgres()
  return async (t, { inFile = true } = {}) => {
    const database = await (inFile ? emptyDatabase() : migratedDatabase())
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    t.teardown(() => client.end())
    return {
      database,
      query: async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows,
    }
  }
}
