import { hash } from 'node:crypto'
import { readdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { Member } from '../../../core/members/members.ts'
import { declareIndexes } from '../../../service/sorting.ts'
import { SELECTOR_BYTES } from '../../../service/token-store.ts'
import type { CheckResult } from '../../../src/stores/shared/check-result.ts'
import { StoreError } from '../../../src/stores/shared/store-error.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase, openExisting } from '../../../src/stores/sqlite/file/database.ts'
import {
  migrate,
  SCHEMA_VERSION,
  SORT_KEYS_VERSION,
} from '../../../src/stores/sqlite/file/sqlite-schema.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { insertToken } from '../../helpers/service/token-rows.ts'
import { overwritePage, sql, thrownBy } from './files.ts'

const INSERT = `INSERT INTO plants (id, name, tag) VALUES (?, ?, 'Tree')`

const NAME: Member = { name: 'name', type: 'string', isRequired: true }

const differs = (ids: string) =>
  `index: name: differs from the plants ${ids}; remove it with plant-store index remove, and restart the service, which builds it again`

/** A closed database with plants. */
function makeDatabase(t: Test): string {
  const file = join(t.testdir(), 'plants.db')
  const db = openDatabase({ file, lockTimeout: 0 })
  const insert = db.prepare(INSERT)
  db.transaction(() => {
    for (let id = 1; id <= 250; id++) insert.run(id, 'x'.repeat(100))
  })()
  db.close()
  return file
}

function check(file: string): CheckResult[] {
  return [...checkDatabase({ file, lockTimeout: 0 })]
}

function faultsOf(file: string): string[] {
  const faults = check(file).filter(({ status }) => status === 'fault')
  return faults.map(({ subject, message }) => `${subject}: ${message}`)
}

t.test('a sound database passes and is not changed', async (t) => {
  const file = makeDatabase(t)
  const before = contentsOf(file)
  const bytes = readFileSync(file).length.toLocaleString('en')
  t.same(check(file), [
    { subject: 'kind', status: 'ok', message: 'a plant-store database' },
    { subject: 'schema', status: 'ok', message: `version ${SCHEMA_VERSION}` },
    { subject: 'file', status: 'ok', message: `${bytes} bytes, in pages of 4096, text in UTF-8` },
    { subject: 'journal', status: 'ok', message: 'wal, 0 bytes' },
    { subject: 'access', status: 'ok', message: 'only the owner can read or write the files' },
    { subject: 'tokens', status: 'ok', message: '0' },
    { subject: 'integrity', status: 'ok', message: 'pages, rows, types and indexes' },
    { subject: 'plants', status: 'ok', message: '250' },
    { subject: 'changes', status: 'ok', message: '250 kept' },
  ])
  t.same(contentsOf(file), before)
})

t.test('a database can be checked while a service writes to it', async (t) => {
  const file = makeDatabase(t)
  const service = openDatabase({ file, lockTimeout: 0 })
  t.teardown(() => service.close())
  const insert = service.prepare(INSERT)
  insert.run(1000, 'before')
  service.exec('BEGIN IMMEDIATE')
  const findings = []
  let id = 1000
  for (const finding of checkDatabase({ file, lockTimeout: 0 })) {
    findings.push(finding)
    insert.run(++id, 'meanwhile')
    service.exec('COMMIT; BEGIN IMMEDIATE')
  }
  t.ok(findings.every(({ status }) => status === 'ok'))
  t.match(findings.at(3), { subject: 'journal', message: /^wal, [1-9][\d,]+ bytes$/ })
  t.match(findings.at(-2), { subject: 'plants', message: '251' }, 'a snapshot')
  t.match(findings.at(-1), { subject: 'changes', message: '251 kept' })
})

t.test('reports a database that is not in WAL mode yet', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  migrate(db)
  db.close()
  const message = 'delete; the service switches to wal on its next start'
  t.match(check(file).at(3), { status: 'ok', message })
  openDatabase({ file, lockTimeout: 0 }).close()
  t.match(check(file).at(3), { status: 'ok', message: /^wal/ })
})

t.test('a database can be checked through a symbolic link', async (t) => {
  const file = makeDatabase(t)
  const link = join(dirname(file), 'link.db')
  symlinkSync(file, link)
  t.match(check(link).at(3), { subject: 'journal', status: 'ok', message: 'wal, 0 bytes' })
})

t.test('the connection of a check refuses changes', async (t) => {
  const db = openExisting({ file: makeDatabase(t), lockTimeout: 0 })
  t.teardown(() => db.close())
  t.throws(() => db.exec('DELETE FROM plants'), { code: 'SQLITE_READONLY' })
})

/** Damage, and the faults that are reported. */
const DAMAGES: [what: string, damage: (file: string) => void, faults: (string | RegExp)[]][] = [
  [
    'with a page of plants overwritten',
    (file) => overwritePage(file, 'plants'),
    [
      /^integrity: Tree \d+ page \d+: /,
      /^integrity: /,
      'plants: database disk image is malformed',
      'changes: database disk image is malformed',
    ],
  ],
  [
    'with a page of the index overwritten',
    (file) => overwritePage(file, 'plants_by_tag'),
    [/^integrity: Tree \d+ page \d+: /, 'integrity: database disk image is malformed'],
  ],
  [
    'that is truncated',
    (file) => truncateSync(file, 3 * 4096),
    ['kind: database disk image is malformed'],
  ],
  [
    'with its header overwritten',
    (file) => overwritePage(file, 'sqlite_schema'),
    ['kind: it is not an SQLite database'],
  ],
  ['that is empty', (file) => truncateSync(file, 0), ['kind: it is empty']],
  [
    'without the tables of the feed',
    sql('DROP TABLE change_log; DROP TABLE changes'),
    [
      /^schema: .*: table changes is missing; expected CREATE TABLE changes /,
      /^schema: .*: table change_log is missing; expected CREATE TABLE change_log /,
      /^schema: .*: index changes_start is missing; expected CREATE INDEX changes_start /,
    ],
  ],
  [
    'whose feed differs from the plants',
    sql(`
    DELETE FROM changes WHERE id = 3;
    UPDATE changes SET name = 'other' WHERE id = 1;
    UPDATE changes SET tag = NULL WHERE id = 2;
    UPDATE changes SET fields = '"height":1' WHERE id = 6;
    INSERT INTO plants (id, name) VALUES (-1, 'x');
    DELETE FROM plants WHERE id = 4;
    DELETE FROM changes WHERE id = 4 AND type = 2;
    INSERT INTO changes (position, at, type, id) SELECT max(position) + 1, 0, 2, 5 FROM changes;
  `),
    ['changes: the last changes in the feed differ from the plants 1, 2, 4, 5, 6'],
  ],
  [
    'whose feed differs from many plants',
    sql(`UPDATE changes SET name = 'other'`),
    [
      'changes: the last changes in the feed differ from the plants 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and possibly others',
    ],
  ],
  [
    'with damaged tokens',
    sql(`
    ${insertToken('short', '00', '00')};
    ${insertToken('other', '01', '0'.repeat(64))};
    ${insertToken('whole', '0'.repeat(2 * SELECTOR_BYTES), '0'.repeat(64))};
    INSERT INTO plant_store_records VALUES ('token', 'torn', 'x', '{"digest":"');
  `),
    ['tokens: damaged: other, short, torn; revoke these tokens and create new ones'],
  ],
]
for (const [what, damage, faults] of DAMAGES) {
  t.test(`reports the faults of a database ${what}`, async (t) => {
    const file = makeDatabase(t)
    damage(file)
    const found = faultsOf(file)
    t.equal(found.length, faults.length, found.join('\n'))
    t.match(found, faults)
    t.notMatch(found.join(), '\n')
  })
}

t.test(
  'compares indexes with plants, except for those that other programs have changed',
  async (t) => {
    const file = makeDatabase(t)
    const store = new SqliteStore({ file, lockTimeout: 0, sameThread: true })
    t.teardown(() => store.close())
    const findings = () => check(file).filter(({ subject }) => subject === 'index')
    t.strictSame(findings(), [])
    await declareIndexes(store, [NAME])
    const message = 'name: not complete, and not compared'
    t.strictSame(findings(), [{ subject: 'index', status: 'ok', message }])
    while (await store.indexPlants());
    sql(`
    UPDATE plants SET name = 'other' WHERE id = 1;
    DELETE FROM plants WHERE id = 2;
    INSERT INTO plants (id, name) VALUES (1000, 'new')
  `)(file)
    t.strictSame(findings(), [{ subject: 'index', status: 'ok', message: 'name: complete' }])
    while (await store.indexPlants());
    t.strictSame(findings(), [{ subject: 'index', status: 'ok', message: 'name: complete' }])

    sql("UPDATE plant_sort_keys SET key = x'00' WHERE id = 3")(file)
    sql('DELETE FROM plant_sort_keys WHERE id = 4')(file)
    sql("INSERT INTO plant_sort_keys SELECT 2, number, x'00' FROM plant_sort_keys LIMIT 1")(file)
    t.strictSame(faultsOf(file), [differs('3, 4, 2')])
    sql('DELETE FROM plant_sort_keys')(file)
    t.strictSame(faultsOf(file), [differs('1, 3, 4, 5, 6, 7, 8, 9, 10, 11 and possibly others')])
  },
)

t.test('an older database has no indexes', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  migrate(db, SORT_KEYS_VERSION - 1)
  db.close()
  t.strictSame(faultsOf(file), [])
})

t.test('reports a database in UTF-16 as faulty', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = new Sqlite(file)
  db.pragma(`encoding = 'UTF-16le'`)
  migrate(db)
  db.close()
  t.match(faultsOf(file), [/^file: .*, text in UTF-16le$/])
})

t.test('a check that cannot run throws an error and reports no fault', async (t) => {
  const file = makeDatabase(t)
  sql('PRAGMA journal_mode = DELETE')(file)
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  other.exec('BEGIN EXCLUSIVE')
  const missing = `${file}.missing`
  const held = thrownBy(() => check(file))
  t.match(held?.cause, { code: 'SQLITE_BUSY' }, 'the error of SQLite is the cause')
  for (const [database, message] of [
    [file, `cannot check the database ${file}: another process has locked it`],
    [missing, `there is no database ${missing}`],
    [':memory:', 'a database in memory is private to its process: use a file'],
    [dirname(file), /it cannot be opened/],
  ] as const) {
    const error = thrownBy(() => check(database))
    t.ok(error instanceof StoreError)
    t.match(error?.message, message)
  }
  t.same(readdirSync(dirname(file)), ['plants.db'])
})

function contentsOf(file: string): Record<string, string> {
  const names = readdirSync(dirname(file))
  const contents = names.map((name) => readFileSync(join(dirname(file), name)))
  return Object.fromEntries(
    names.map((name, index) => [name, hash('sha256', contents[index] ?? '')]),
  )
}
