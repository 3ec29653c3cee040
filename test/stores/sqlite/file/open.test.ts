import { hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { checkDatabase } from '../../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { OpenFile } from '../../../../src/stores/sqlite/file/file-identity.ts'
import { migrate, SCHEMA_VERSION } from '../../../../src/stores/sqlite/file/sqlite-schema.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { PERMISSIONS, PRIVATE_FOLDER_MODE } from '../../../../src/system/file-modes.ts'
import { sql, thrownBy } from '../files.ts'

const OURS = 0x504c4e54

const EMPTIED = 'CREATE TABLE t (x); DROP TABLE t; VACUUM'

const LOST_MARKS = `it has the tables of a plant-store database, .*: PRAGMA application_id = ${OURS}; PRAGMA user_version`

/** Files that are rejected, each with the reason. */
const REFUSED: [what: string, make: (file: string) => void, reason: RegExp][] = [
  [
    'the database of another program',
    sql('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)'),
    /: it belongs to another program$/,
  ],
  [
    'an empty database that another program has marked',
    sql('PRAGMA application_id = 7'),
    /: it belongs to another program$/,
  ],
  [
    'a database with a newer schema',
    (file) => {
      openDatabase({ file, lockTimeout: 0 }).close()
      sql('PRAGMA user_version = 1000')(file)
    },
    /: its schema has version 1000, but this program supports versions up to \d+: upgrade plant-store$/,
  ],
  [
    'a database with an older schema',
    (file) => {
      openDatabase({ file, lockTimeout: 0 }).close()
      sql('PRAGMA user_version = 5')(file)
    },
    /: its schema has version 5, but this program supports versions from 6: export the plants with the plant-store /,
  ],
  [
    'a database that has lost its version',
    (file) => {
      openDatabase({ file, lockTimeout: 0 }).close()
      sql('PRAGMA user_version = 0')(file)
    },
    new RegExp(`: ${LOST_MARKS} = ${SCHEMA_VERSION}$`),
  ],
  [
    'a plain-text file',
    (file) => writeFileSync(file, 'id,name\n'.repeat(1000)),
    /: it is not an SQLite data/,
  ],
  ['a folder', (file) => mkdirSync(file), /: it cannot be opened: check that this user /],
]
for (const [what, make, reason] of REFUSED) {
  t.test(`${what} is rejected in one line and left unchanged`, async (t) => {
    const folder = t.testdir()
    const file = join(folder, 'plants.db')
    make(file)
    const before = contentsOf(folder)
    for (const open of [openDatabase, (options: Options) => new SqliteStore(options)]) {
      const error = thrownBy(() => open({ file, lockTimeout: 0 }))
      t.ok(error instanceof StoreError, String(error?.constructor))
      t.match(error?.message, reason)
      t.ok(error?.message.startsWith(`cannot use the database ${file}: `))
      t.notMatch(error?.message, '\n')
    }
    t.same(contentsOf(folder), before)
  })
}

t.test('the refusal of a dump says how to make it a database', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const original = new Sqlite(file)
  migrate(original)
  original.exec("INSERT INTO plants (id, name, tag) VALUES (1, 'Abies', 'Tree')")
  // A dump contains everything else.
  original.exec('PRAGMA application_id = 0; PRAGMA user_version = 0')
  original.close()
  const { message = '' } = thrownBy(() => openDatabase({ file, lockTimeout: 0 })) ?? {}
  t.match(message, new RegExp(`: ${LOST_MARKS} = ${SCHEMA_VERSION}$`))
  const [{ message: fault } = { message: '' }] = checkDatabase({ file, lockTimeout: 0 })
  t.ok(message.endsWith(fault), 'check says the same')
  sql(message.slice(message.indexOf('PRAGMA')))(file)
  t.same(
    [...checkDatabase({ file, lockTimeout: 0 })].filter(({ status }) => status === 'fault'),
    [],
  )
  const db = openDatabase({ file, lockTimeout: 0 })
  t.match(db.prepare('SELECT * FROM plants').all(), [{ id: 1n, name: 'Abies', tag: 'Tree' }])
  db.close()
})

t.test('the folder of a new database is created for its owner only', async (t) => {
  const folder = join(t.testdir(), 'new')
  openDatabase({ file: join(folder, 'nested', 'plants.db'), lockTimeout: 0 }).close()
  t.equal(statSync(folder).mode & PERMISSIONS, PRIVATE_FOLDER_MODE)
  t.throws(() => openDatabase({ file: join(folder, 'x', 'y.db'), lockTimeout: 0, mustExist: true }))
  t.notOk(existsSync(join(folder, 'x')), 'a database that must exist')
})

type Options = Parameters<typeof openDatabase>[0]

const CANNOT_OPEN =
  'it cannot be opened: check that this user can read and write the file and its folder'
const READ_ONLY = 'this user cannot write to the file or its folder'

for (const [what, name, mode, reason] of [
  ['a new file in a read-only folder', 'new.db', 0o666, CANNOT_OPEN],
  ['a writable file in a read-only folder', 'plants.db', 0o666, READ_ONLY],
  ['a read-only file', 'plants.db', 0o444, READ_ONLY],
  ['an unreadable file', 'plants.db', 0o000, CANNOT_OPEN],
] as const) {
  t.test(`${what} is rejected in one line`, async (t) => {
    // Not in the test's folder, which only root can access.
    const folder = mkdtempSync(join(tmpdir(), 'plants-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    openDatabase({ file: join(folder, 'plants.db'), lockTimeout: 0 }).close()
    chmodSync(join(folder, 'plants.db'), mode)
    chmodSync(folder, 0o555)
    const file = join(folder, name)
    const error = asNobody(() => thrownBy(() => openDatabase({ file, lockTimeout: 0 })))
    chmodSync(folder, 0o755)
    t.ok(error instanceof StoreError)
    t.equal(error?.message, `cannot use the database ${file}: ${reason}`)
  })
}

t.test('mustExist does not create a database', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'plants.db')
  const error = thrownBy(() => openDatabase({ file, lockTimeout: 0, mustExist: true }))
  t.ok(error instanceof StoreError)
  t.equal(error?.message, `there is no database ${file}`)
  t.same(readdirSync(folder), [])
  openDatabase({ file, lockTimeout: 0 }).close()
  openDatabase({ file, lockTimeout: 0, mustExist: true }).close()
  openDatabase({ file: ':memory:', lockTimeout: 0, mustExist: true }).close()
})

for (const [what, make] of [
  ['no file', () => {}],
  ['an empty file', (file: string) => writeFileSync(file, '')],
  ['an empty database', sql(EMPTIED)],
] as const) {
  t.test(`${what} becomes a database with durable commits`, async (t) => {
    const file = join(t.testdir(), 'plants.db')
    make(file)
    const db = openDatabase({ file, lockTimeout: 0 })
    t.teardown(() => db.close())
    t.equal(db.pragma('application_id', { simple: true }), BigInt(OURS))
    t.equal(db.pragma('user_version', { simple: true }), BigInt(SCHEMA_VERSION))
    t.equal(db.pragma('journal_mode', { simple: true }), 'wal')
    t.equal(db.pragma('synchronous', { simple: true }), 2n)
  })
}

for (const [what, work] of [
  ['writes to', 'BEGIN EXCLUSIVE'],
  // Each of these prevents the switch to WAL mode.
  ['is about to write to', 'BEGIN IMMEDIATE'],
  ['reads', 'BEGIN; SELECT * FROM sqlite_schema'],
] as const) {
  t.test(`a new database is rejected while another connection ${what} it`, async (t) => {
    const file = join(t.testdir(), 'plants.db')
    sql(EMPTIED)(file)
    const other = new Sqlite(file)
    t.teardown(() => other.close())
    other.exec(work)
    const start = performance.now()
    const error = thrownBy(() => openDatabase({ file, lockTimeout: 50 }))
    t.ok(performance.now() - start >= 45, 'it waited')
    t.ok(error instanceof StoreError)
    t.equal(error?.message, `cannot use the database ${file}: another process has locked it`)
    other.exec('ROLLBACK')
    openDatabase({ file, lockTimeout: 0 }).close()
  })
}

t.test('an existing database can be opened while another connection writes', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const other = openDatabase({ file, lockTimeout: 0 })
  other.exec('BEGIN IMMEDIATE')
  const before = contentsOf(join(file, '..'))
  const db = openDatabase({ file, lockTimeout: 0 })
  t.equal(db.prepare('SELECT count(*) FROM plants').pluck().get(), 0n)
  db.close()
  t.same(contentsOf(join(file, '..')), before)
  other.close()
})

function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
  const kept = files.filter(({ name }) => !name.endsWith('-shm'))
  return Object.fromEntries(
    kept.map(({ name }) => [name, hash('sha256', readFileSync(join(folder, name)))]),
  )
}

/** Runs as another user, because root can write everything. */
function asNobody<Result>(work: () => Result): Result {
  const user = process.geteuid?.()
  if (user !== 0) return work()
  process.seteuid?.(65_534)
  try {
    return work()
  } finally {
    process.seteuid?.(user)
  }
}

t.test('only the file that is open already is opened again', async (t) => {
  const folder = t.testdir()
  const [file, other] = ['plants.db', 'other.db'].map((name) => join(folder, name)) as [
    string,
    string,
  ]
  for (const each of [file, other]) openDatabase({ file: each, lockTimeout: 0 }).close()
  const options = { file, lockTimeout: 0, identity: new OpenFile(file).identity }
  openDatabase(options).close()
  const message = new RegExp(`^cannot use the database .*${file} was deleted or replaced while`)
  rmSync(file)
  t.throws(() => openDatabase(options), { constructor: StoreError, message })
  t.notOk(existsSync(file), 'no file is created')
  renameSync(other, file)
  const before = readFileSync(file)
  t.throws(() => openDatabase(options), { constructor: StoreError, message })
  t.same(readFileSync(file), before)
})
