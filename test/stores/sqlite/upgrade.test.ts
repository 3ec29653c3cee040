import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import t from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { migrate } from '../../../src/stores/sqlite/sqlite-schema.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { StoreError } from '../../../src/stores/store-error.ts'
import { exported, MAX, MIN, plantsIn, samePlants } from '../plants.ts'
import { makeVersion1 } from './files.ts'

const CONTENT = `
  INSERT INTO plants VALUES
    (${MIN}, '', ''), (-1, 'a', NULL), (0, 'b', 'x'), (1, 'c', 'x'), (${MAX}, 'd', 'y');
  INSERT INTO tokens VALUES
    (x'0102030405060708', x'010203040506070809', 'ci', 'read,write', 1, 2, NULL);`

const PLANTS = [
  { id: MIN, name: '', tag: '' },
  { id: -1n, name: 'a' },
  { id: 0n, name: 'b', tag: 'x' },
  { id: 1n, name: 'c', tag: 'x' },
  { id: MAX, name: 'd', tag: 'y' },
]

t.test('an upgrade from version 1 keeps all data', async (t) => {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const file = join(t.testdir(), 'plants.db')
  makeVersion1(file, CONTENT)
  store = new SqliteStore({ file, lockTimeout: 0 })
  samePlants(t, await exported(store), PLANTS)
  t.strictSame(plantsIn(await store.list({ tag: 'x', limit: 10 })), PLANTS.slice(2, 4))
  t.strictSame(await store.listTokens(), [
    {
      name: 'ci',
      digest: Buffer.from('010203040506070809', 'hex'),
      scopes: ['read', 'write'],
      createdAt: new Date(1),
      expiresAt: new Date(2),
    },
  ])
  t.strictSame(await store.update(1n, { tag: 'y' }), { id: 1n, name: 'c', tag: 'y' })
  t.strictSame(plantsIn(await store.list({ tag: 'y', limit: 10 })).length, 2)
})

t.test('an upgraded database has the schema of a new one', async (t) => {
  const folder = t.testdir()
  makeVersion1(join(folder, 'old.db'), CONTENT)
  const [upgraded, made] = ['old.db', 'new.db'].map((name) => {
    const db = openDatabase({ file: join(folder, name), lockTimeout: 0 })
    const schema = schemaOf(db)
    db.close()
    return schema
  })
  t.strictSame(upgraded, made)
})

t.test('an upgrade is rejected while another connection writes', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  makeVersion1(file, CONTENT)
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  const before = schemaOf(other)
  other.exec('BEGIN IMMEDIATE')
  t.throws(
    () => openDatabase({ file, lockTimeout: 0 }),
    new StoreError(`cannot use the database ${file}: another process has locked it`),
  )
  other.exec('ROLLBACK')
  t.strictSame(schemaOf(other), before)
  openDatabase({ file, lockTimeout: 0 }).close()
  t.notSame(schemaOf(other), before)
})

t.test('a failed upgrade changes nothing', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  // Has the name of an index that the upgrade creates.
  makeVersion1(file, 'CREATE TABLE plants_by_tag (x)')
  const before = contentOf(file)
  t.throws(() => openDatabase({ file, lockTimeout: 0 }), {
    message: /: there is already a table named plants_by_tag$/,
  })
  t.strictSame(contentOf(file), before)
})

t.test('a concurrent upgrade by a newer program is not undone', async (t) => {
  const db = new Sqlite(':memory:')
  t.teardown(() => db.close())
  migrate(db)
  db.pragma('user_version = 1000')
  const before = schemaOf(db)
  migrate(db)
  t.strictSame(schemaOf(db), before)
})

function contentOf(file: string): unknown {
  const db = new Sqlite(file, { readonly: true })
  try {
    return schemaOf(db)
  } finally {
    db.close()
  }
}

function schemaOf(db: Database): unknown {
  const objects = db
    .prepare<[], { sql: string | null }>(
      'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name',
    )
    .all()
    .map(({ sql, ...others }) => ({ ...others, sql: sql?.replace(/\s+/g, ' ') }))
  return [db.pragma('user_version'), db.pragma('application_id'), objects]
}
