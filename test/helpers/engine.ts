import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import type { Test } from 'tap'
import { inMemory, makeFolder } from './postgres-folders.ts'

/** Where the plants of one service are. */
export interface Place {
  /** What the setting of the database says. */
  readonly database: string
  /** Reads by another connection than the service's. */
  query<Row extends object>(sql: string): Promise<Row[]>
}

/** Finds a place, empty and nobody else's, gone when the test is. */
export type Engine = (t: Test) => Promise<Place>

export const sqlite: Engine = async (t) => {
  const database = join(makeFolder(t, inMemory()), 'plants.db')
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

/** The server of this process, with a database for each place. */
export async function postgres(): Promise<Engine> {
  const { sharedPostgres } = await import('./shared-postgres.ts')
  const { emptyDatabase } = await sharedPostgres()
  return async (t) => {
    const database = await emptyDatabase()
    const client = new pg.Client({ connectionString: database })
    await client.connect()
    t.teardown(() => client.end())
    return {
      database,
      query: async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows,
    }
  }
}
