import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { EARLIER_BARRIER } from '../../../../src/stores/sqlite/file/restriction-barrier.ts'
import { compareSchema } from '../../../../src/stores/sqlite/file/schema-comparison.ts'
import {
  MIGRATIONS,
  migrate,
  readSchemaVersion,
  SCHEMA_VERSION,
  SORT_KEYS_VERSION,
} from '../../../../src/stores/sqlite/file/sqlite-schema.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { createIn } from '../../../helpers/plants/single-changes.ts'
import {
  assertConverted,
  assertRestricted,
  assertSortable,
  EARLIER_RESTRICTIONS,
  earlierRows,
} from '../../earlier-rows.ts'
import { changesAfter } from '../../feed-reads.ts'

const NEXT_VERSION = SCHEMA_VERSION + 1

/** Upgrades a database to the version that follows this one. */
function upgrade(db: Database, statements = 'CREATE INDEX plants_by_name ON plants (name);'): void {
  migrate(db, NEXT_VERSION, [...MIGRATIONS, statements])
}

/** A database of this version. */
function makeDatabase(t: Test) {
  const file = join(t.testdir(), 'plants.db')
  openDatabase({ file, lockTimeout: 0 }).close()
  const db = new Sqlite(file, { timeout: 0 })
  t.teardown(() => db.close())
  return { file, db }
}

t.test('the feed of version 6 continues, and its transactions have ended', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  migrate(db, 6)
  db.exec("INSERT INTO plants (id, name) VALUES (1, 'Abies'), (2, 'Acer')")
  db.close()
  const store = new SqliteStore({ file, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  const before = await changesAfter(store)
  t.strictSame(
    before.map(({ endsTransaction }) => endsTransaction),
    [undefined, true],
  )
  await createIn(store, { id: 3n, name: 'Alnus' })
  const [third, ...others] = await changesAfter(store, before.at(-1)?.cursor)
  t.match(third, { type: 'created', id: 3n, endsTransaction: true })
  t.strictSame(others, [])
  const upgraded = new Sqlite(file)
  t.teardown(() => upgraded.close())
  t.strictSame(compareSchema(upgraded).differences, [])
})

t.test('tokens, settings and webhooks of version 6 become records', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  migrate(db, 6)
  for (const statement of earlierRows((hex) => `x'${hex}'`)) db.exec(statement)
  db.close()
  const store = new SqliteStore({ file, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  await assertConverted(t, store)
})

t.test('a restriction of version 7 becomes a record', async (t) => {
  for (const [index, [statement, expected]] of EARLIER_RESTRICTIONS.entries()) {
    const file = join(t.testdir(), `${index}.db`)
    const db = new Sqlite(file)
    migrate(db, 7)
    db.exec(statement)
    if (expected !== undefined) db.exec(EARLIER_BARRIER)
    t.strictSame(compareSchema(db).differences, [])
    db.close()
    const store = new SqliteStore({ file, lockTimeout: 60_000, sameThread: true })
    t.teardown(() => store.close())
    await assertRestricted(t, store, expected)
  }
})

t.test('plants of version 8 can be sorted', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  migrate(db, SORT_KEYS_VERSION - 1)
  db.exec("INSERT INTO plants (id, name) VALUES (1, 'b'), (2, 'a')")
  db.close()
  const store = new SqliteStore({ file, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  await assertSortable(t, store)
})

t.test('an upgrade is rejected while another connection writes', async (t) => {
  const { file, db } = makeDatabase(t)
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  const before = schemaOf(db)
  other.exec('BEGIN IMMEDIATE')
  t.throws(() => upgrade(db), { code: 'SQLITE_BUSY' })
  other.exec('ROLLBACK')
  t.strictSame(schemaOf(db), before)
  upgrade(db)
  t.notSame(schemaOf(db), before)
})

t.test('an upgrade that is interrupted changes nothing', async (t) => {
  const { db } = makeDatabase(t)
  const before = schemaOf(db)
  t.throws(() => upgrade(db, 'CREATE TABLE notes (x); CREATE TABLE plants (x);'), {
    message: 'table plants already exists',
  })
  t.strictSame(schemaOf(db), before)
})

t.test('a concurrent upgrade by a newer program is not undone', async (t) => {
  const { db } = makeDatabase(t)
  upgrade(db)
  const before = schemaOf(db)
  migrate(db)
  t.strictSame(schemaOf(db), before)
})

function schemaOf(db: Database): unknown {
  const objects = db
    .prepare<[], { sql: string | null }>(
      'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name',
    )
    .all()
  return [readSchemaVersion(db), db.pragma('application_id'), objects]
}
