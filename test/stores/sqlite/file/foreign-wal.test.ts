/** A database next to the WAL of another one, which SQLite would mix. */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { checkDatabase } from '../../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase, openExisting } from '../../../../src/stores/sqlite/file/database.ts'
import { openReader } from '../../../../src/stores/sqlite/reads/plant-reader.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../../tools/tap/temporary-folders.ts'
import { exported } from '../../plants.ts'
import { backUp } from '../files.ts'

const lockTimeout = 0

const root = makeFolder(t, inMemory())
const service = openDatabase({ file: join(root, 'service.db'), lockTimeout })
t.teardown(() => service.close())
const insert = service.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
insert.run(1, 'before')
const backup = join(root, 'backup.db')
await backUp(service.name, backup)
for (let id = 2; id < 100; id++) insert.run(id, 'x'.repeat(500))

/** The database that a killed service leaves, with changes in its WAL that the backup does not have. */
function makeKilled(t: Test): string {
  const file = join(makeFolder(t, inMemory()), 'plants.db')
  for (const suffix of ['', '-wal']) copyFileSync(service.name + suffix, file + suffix)
  return file
}

/** Everything that opens a database. */
const OPENERS: Readonly<Record<string, (file: string) => unknown>> = {
  start: (file) => new SqliteStore({ file, lockTimeout }),
  check: (file) => [...checkDatabase({ file, lockTimeout })],
  backup: (file) => backUp(file, `${file}.backup`),
  compare: (file) => openReader({ file, lockTimeout }),
}

/** What was put in the place of the database, and the reason. */
const REPLACEMENTS: Readonly<Record<string, [(file: string) => void, string]>> = {
  'a backup': [(file) => copyFileSync(backup, file), 'it is a backup that was never used'],
  'an empty file': [(file) => writeFileSync(file, ''), 'it is empty'],
}

for (const [opener, open] of Object.entries(OPENERS)) {
  for (const [what, [replace, reason]] of Object.entries(REPLACEMENTS)) {
    t.test(`${opener} refuses ${what} next to the WAL of another database`, async (t) => {
      const file = makeKilled(t)
      replace(file)
      const before = contentsOf(file)
      await t.rejects(async () => open(file), {
        constructor: StoreError,
        message:
          `cannot use the database ${file}: ${reason}, so ${file}-wal belongs to another database, which was there ` +
          `before: put that one back, or move ${file}-wal away with its -shm file`,
      })
      t.same(contentsOf(file), before)
    })
  }
}

for (const [what, make] of [
  ['a folder', mkdirSync],
  ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
] as const) {
  t.test(`SQLite refuses ${what} next to a WAL`, (t) => {
    const file = makeKilled(t)
    rmSync(file)
    make(file)
    for (const open of [openDatabase, openExisting]) {
      t.throws(() => open({ file, lockTimeout }), /cannot be opened|unable to open|disk I\/O error/)
    }
    t.end()
  })
}

t.test('a new database is not created next to the WAL of another one', async (t) => {
  const file = makeKilled(t)
  rmSync(file)
  const wal = readFileSync(`${file}-wal`)
  t.throws(() => openDatabase({ file, lockTimeout }), { message: /: it is empty, so \S+-wal / })
  t.same(readFileSync(`${file}-wal`), wal)
})

t.test('the WAL is looked for next to the target of a symbolic link', async (t) => {
  const file = makeKilled(t)
  copyFileSync(backup, file)
  const link = join(makeFolder(t, inMemory()), 'link.db')
  symlinkSync(file, link)
  t.throws(() => openDatabase({ file: link, lockTimeout }), { message: `${file}-wal` })
})

t.test('without that WAL, the backup is used', async (t) => {
  const file = makeKilled(t)
  copyFileSync(backup, file)
  rmSync(`${file}-wal`)
  // A service that was killed after a checkpoint leaves an empty one.
  writeFileSync(`${file}-wal`, '')
  const store = new SqliteStore({ file, lockTimeout })
  t.teardown(() => store.close())
  t.strictSame(await exported(store), [{ id: 1n, name: 'before' }])
})

t.test('a database next to its own WAL is used', async (t) => {
  const file = makeKilled(t)
  const store = new SqliteStore({ file, lockTimeout })
  t.teardown(() => store.close())
  t.equal((await exported(store)).length, 99)
  t.notOk([...checkDatabase({ file, lockTimeout })].some(({ status }) => status === 'fault'))
})

function contentsOf(file: string) {
  const folder = dirname(file)
  return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')])
}
