import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import type { Test } from 'tap'
import { startPostgres } from './postgres.ts'

/** Where the plants of one service are. */
export interface Place {
  /** What the setting of the database says. */
  readonly database: string
  /** Reads by another connection than the service's. */
  query<Row extends object>(sql: string): Promise<Row[]>
}

/** Finds a place, empty and nobody else's, gone when the test is. */
export type Engine = (t: Test) => Promise<Place>

const folders = new WeakMap<Test, string>()

/** The folder of the test, which `t.testdir` would empty if it were called again. */
function folderOf(t: Test): string {
  const folder = folders.get(t) ?? t.testdir()
  folders.set(t, folder)
  return folder
}

export const sqlite: Engine = async (t) => {
  const database = join(mkdtempSync(join(folderOf(t), 'service-')), 'plants.db')
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

/** A server of its own, with a database for each place. */
export async function postgres(t: Test): Promise<Engine> {
  const { emptyDatabase } = await startPostgres(t)
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
