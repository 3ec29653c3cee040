import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { INT64_MIN } from '../../../../core/json/int64.ts'
import { restrict } from '../../../../service/restriction.ts'
import type { CheckResult } from '../../../../src/stores/shared/check-result.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { restoreDatabase } from '../../../../src/stores/sqlite/backup/database-restore.ts'
import { checkDatabase } from '../../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { SCHEMA_VERSION } from '../../../../src/stores/sqlite/file/sqlite-schema.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { backUp, overwritePage, sql, thrownBy } from '../files.ts'

/** Takes many minutes for a row. */
const SLOW = 'instr(hex(zeroblob(4000000)) || text, hex(zeroblob(2000000)) || 1)'

/** A closed database with a plant, and its backup. */
const original = join(t.testdir(), 'plants.db')
openDatabase({ file: original, lockTimeout: 0 }).close()
sql("INSERT INTO plants (id, name, tag) VALUES (1, 'Abies', 'Tree')")(original)
const originalBackup = `${original}.backup`
await backUp(original, originalBackup)

function makeDatabase(t: Test): string {
  const file = join(t.testdir(), 'plants.db')
  copyFileSync(original, file)
  return file
}

function check(file: string): CheckResult[] {
  return [...checkDatabase({ file, lockTimeout: 0 })]
}

function restore(backup: string, database: string) {
  const { signal } = new AbortController()
  return restoreDatabase({ onProgress() {}, signal, backup, database })
}

const DIFFERS = `its schema differs from version ${SCHEMA_VERSION}: `

/** Changes to a schema, and the differences that are found. */
const DIFFERENCES: [what: string, statements: string, differences: string[]][] = [
  [
    'a trigger, on the table in capitals',
    'CREATE TRIGGER "x""y" AFTER INSERT ON PLANTS BEGIN DELETE FROM plants; END',
    ['unexpected trigger on plants; remove it with DROP TRIGGER "x""y"'],
  ],
  [
    'an index on an expression',
    'CREATE INDEX slow ON plants (upper(name))',
    ['unexpected index on plants; remove it with DROP INDEX "slow"'],
  ],
  [
    'a view in place of a table',
    'DROP TABLE change_log; CREATE VIEW change_log AS SELECT 1 AS id',
    ['table change_log is missing; expected CREATE TABLE change_log '],
  ],
  [
    'a table and an index less',
    'DROP TABLE change_log; DROP INDEX plants_by_tag',
    [
      'index plants_by_tag is missing; expected CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL',
      'table change_log is missing; expected CREATE TABLE change_log ',
    ],
  ],
  [
    'another index of the same name',
    'DROP INDEX plants_by_tag; CREATE INDEX plants_by_tag ON plants (tag)',
    ['index plants_by_tag differs; expected CREATE INDEX plants_by_tag ON plants (tag) WHERE'],
  ],
  [
    'a column more',
    'ALTER TABLE change_log ADD COLUMN at ANY',
    ['table change_log differs; expected CREATE TABLE '],
  ],
  [
    'a trigger of the feed less',
    'DROP TRIGGER log_changed',
    [
      'trigger log_changed is missing; expected CREATE TRIGGER log_changed AFTER UPDATE ON plants WHEN ',
    ],
  ],
  [
    'a restriction without its triggers',
    `INSERT INTO plant_store_records (kind, key, value)
     VALUES ('restriction', 'restriction', '"frozen"')`,
    ['insert', 'update', 'delete'].map(
      (event) =>
        `trigger refuse_${event} is missing; expected CREATE TRIGGER refuse_${event} BEFORE `,
    ),
  ],
]
for (const [what, statements, differences] of DIFFERENCES) {
  t.test(`a database with ${what} is refused`, async (t) => {
    const file = makeDatabase(t)
    sql(statements)(file)
    const [first] = differences
    const reason = `${DIFFERS}${first}`

    const results = check(file)
    t.same(
      results.map(({ subject, status }) => `${status} ${subject}`),
      ['ok kind', ...differences.map(() => 'fault schema')],
      'nothing that uses the schema is checked',
    )
    for (const [index, difference] of differences.entries()) {
      t.ok(results[index + 1]?.message.startsWith(DIFFERS + difference), difference)
    }
    for (const open of [openDatabase, (options: Options) => new SqliteStore(options)]) {
      const error = thrownBy(() => open({ file, lockTimeout: 0 }))
      t.ok(error instanceof StoreError)
      t.ok(error?.message.startsWith(`cannot use the database ${file}: ${reason}`))
      t.notMatch(error?.message, '\n')
    }
  })
}

t.test('a database with a difference is neither backed up nor restored', async (t) => {
  const file = makeDatabase(t)
  const [[, statements, [difference]]] = DIFFERENCES as [(typeof DIFFERENCES)[number]]
  const refusal = { constructor: StoreError, message: `${DIFFERS}${difference}` }
  sql(statements)(file)
  await t.rejects(backUp(file, `${file}.copy`), refusal)
  // Without its checksum.
  const backup = join(t.testdirName, 'backup.db')
  copyFileSync(originalBackup, backup)
  sql(statements)(backup)
  await t.rejects(restore(backup, join(t.testdirName, 'restored.db')), refusal)
})

/** Makes the condition of the index expensive, which SQLite would have evaluated when it was created. */
function makeSlow(file: string): void {
  const db = new Sqlite(file).unsafeMode()
  db.pragma('writable_schema = ON')
  db.prepare('UPDATE sqlite_schema SET sql = replace(sql, ?, ?)').run("text = '' AND ", '')
  db.close()
}

type Options = Parameters<typeof openDatabase>[0]

t.test('a mirror is used, and the database again after it', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const options = { file, lockTimeout: 0, sameThread: true }
  const mirror = { source: 'https://source.example', cursor: 'AAAA', copyFrom: INT64_MIN }
  for (const [expected, next] of [
    [undefined, mirror],
    [mirror, undefined],
  ]) {
    const store = new SqliteStore(options)
    t.equal(await restrict(store, { expected, next }), 'done')
    await store.close()
    t.ok(check(file).every(({ status }) => status === 'ok'))
    openDatabase({ file, lockTimeout: 0 }).close()
    await backUp(file, `${file}.${next}`)
    await restore(`${file}.${next}`, join(t.testdirName, `${next}.db`))
  }
})

t.test('tables and views of others are named, not refused, and not checked', async (t) => {
  const file = makeDatabase(t)
  sql(`
    CREATE TABLE notes (text TEXT);
    CREATE VIEW latest AS SELECT * FROM plants;
    INSERT INTO notes VALUES ('x');
    CREATE TRIGGER forget AFTER INSERT ON notes BEGIN DELETE FROM notes; END;
    CREATE INDEX slow ON notes (text) WHERE text = '' AND ${SLOW};
    ANALYZE plants;
  `)(file)
  makeSlow(file)
  const message = `version ${SCHEMA_VERSION}; not ours, and not verified: "notes", "latest", "sqlite_stat1"`
  const results = check(file)
  t.match(results[1], { subject: 'schema', status: 'warning', message })
  t.ok(results.every(({ status }) => status !== 'fault'))
  openDatabase({ file, lockTimeout: 0 }).close()
  await backUp(file, `${file}.copy`)
  await restore(`${file}.copy`, join(t.testdirName, 'restored.db'))
  overwritePage(file, 'plants')
  t.match(check(file)[6], { subject: 'integrity', status: 'fault' })
})
