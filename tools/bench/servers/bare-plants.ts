import Sqlite from 'better-sqlite3'
import { FIRST_ID, makePlant } from '../load/request-kinds.ts'

export interface Plant {
  name: string
  tag?: string
}

export type StoredPlant = Plant & { id: number }

/** The plants of a bare server. */
export interface Plants {
  create(plant: StoredPlant): unknown
  /** All or none. */
  createAll(plants: readonly StoredPlant[]): unknown
  get(id: number): StoredPlant | undefined | Promise<StoredPlant | undefined>
  /** The next hundred plants by id. */
  page(after: number): StoredPlant[] | Promise<StoredPlant[]>
}

/** Stores nothing and pretends that every plant exists. */
export function noPlants(): Plants {
  return {
    create() {},
    createAll() {},
    get: makePlant,
    page: (after) => Array.from({ length: 100 }, (_, index) => makePlant(after + 1 + index)),
  }
}

/**
 * Commits each create separately.
 *
 * @param synchronous the value of SQLite's `PRAGMA synchronous`
 * @param stored how many plants to store first
 */
export function sqlitePlants(file: string, synchronous: string, stored: number): Plants {
  const db = new Sqlite(file)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${synchronous}`)
  fillTable(db, stored)
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const select = db.prepare<number, StoredPlant>('SELECT * FROM plants WHERE id = ?')
  const page = db.prepare<number, StoredPlant>(
    'SELECT * FROM plants WHERE id > ? ORDER BY id LIMIT 100',
  )
  const create = ({ id, name, tag }: StoredPlant) => insert.run(id, name, tag ?? null)
  const createAll = db.transaction((plants: Iterable<StoredPlant>) => {
    for (const plant of plants) create(plant)
  })
  return { create, createAll, get: (id) => select.get(id), page: (after) => page.all(after) }
}

/** Creates the table in an empty database, with `stored` plants. */
export function fillTable(db: Sqlite.Database, stored: number): void {
  db.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)')
  const insert = db.prepare('INSERT INTO plants VALUES (@id, @name, @tag)')
  db.transaction(() => {
    for (let index = 0; index < stored; index++) insert.run(makePlant(FIRST_ID + index))
  })()
}
