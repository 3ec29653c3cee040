import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { runHere } from '../helpers/command-here.ts'

/** Creates a database as another program would. */
function database(file: string, statements: string): void {
  const db = new Sqlite(file)
  db.exec(statements)
  db.close()
}

const files = [
  {
    what: 'a file that is not a database',
    make: (file: string) => writeFileSync(file, 'id,name,tag\n'.repeat(1000)),
    says: 'it is not an SQLite database',
  },
  {
    what: 'a database of another program',
    make: (file: string) => database(file, 'CREATE TABLE notes (text TEXT)'),
    says: 'it belongs to another program',
  },
  {
    what: 'a newer schema',
    make: (file: string) =>
      database(file, 'PRAGMA application_id = 0x504c4e54; PRAGMA user_version = 1000'),
    says: /its schema has version 1000, but this program supports versions up to \d+: upgrade plant-store/,
  },
]

const views = {
  what: 'a view in place of a table',
  make: (file: string) => {
    openDatabase({ file, lockTimeout: 0 }).close()
    database(file, 'DROP TABLE tokens; CREATE VIEW tokens AS SELECT 1 AS name')
  },
  says: /: table tokens is missing; expected CREATE TABLE tokens \(/,
}

/** The files in a folder, byte for byte. */
function contents(folder: string) {
  return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'latin1')])
}

async function refuses(t: Test, file: string, says: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await runHere(['--port', '0', '--database', file])
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^plant-store: cannot use the database .*\n$/, 'one line')
  t.ok(stderr.startsWith(`plant-store: cannot use the database ${file}: `))
  t.match(stderr, says)
}

for (const { what, make, says } of [...files, views]) {
  t.test(`${what} stops the start and is not modified`, async (t) => {
    const folder = t.testdir()
    make(join(folder, 'plants.db'))
    const before = contents(folder)
    await refuses(t, join(folder, 'plants.db'), says)
    t.same(contents(folder), before)
  })
}

t.test('an unsupported database URL is refused without printing its password', async (t) => {
  for (const command of [['--port', '0'], ['import', 'data/sample.csv'], ['check']]) {
    const args = [...command, '--database', 'mysql://user:secret@host/plants']
    const { code, stderr } = await runHere(args)
    t.equal(code, 1)
    t.equal(
      stderr,
      'plant-store: unsupported database URL mysql://…: expected postgres://… or postgresql://…; for SQLite, the path of a file\n',
    )
  }
})

t.test('a folder that cannot be created stops the start', async (t) => {
  const folder = t.testdir({ file: '' })
  await refuses(t, join(folder, 'file', 'missing', 'plants.db'), 'ENOTDIR')
})

t.test('a folder in which no file can be created stops the start', async (t) => {
  // Not even root can create a file here. Missing permissions would not stop root.
  await refuses(
    t,
    '/proc/plants.db',
    'it cannot be opened: check that this user can read and write',
  )
})

const skip = process.getuid?.() === 0 && 'root can write read-only files'
t.test('a read-only folder or database stops the start', { skip }, async (t) => {
  const folder = t.testdir({ empty: {}, full: {} })
  chmodSync(join(folder, 'empty'), 0o500)
  await refuses(t, join(folder, 'empty', 'plants.db'), 'it cannot be opened: check that this user')

  const file = join(folder, 'full', 'plants.db')
  await runHere(['token', 'create', '--name', 'x', '--create', '--database', file])
  chmodSync(file, 0o400)
  await refuses(t, file, 'this user cannot write to the file')
})

for (const command of [
  ['token', 'create', '--name', 'x'],
  ['import', 'data/sample.csv'],
]) {
  t.test(`${command[0]} refuses a database in memory, which would end with it`, async (t) => {
    const { code, stdout, stderr } = await runHere([...command, '--database', ':memory:'])
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, 'plant-store: a database in memory ')
  })
}

const HINT = '; use --create to create it'

for (const { command, hint = '' } of [
  { command: ['token', 'list'] },
  { command: ['token', 'revoke', 'x'] },
  { command: ['token', 'create', '--name', 'x'], hint: HINT },
  { command: ['webhook', 'list'] },
  { command: ['import', 'data/sample.csv'], hint: HINT },
  { command: ['export'] },
  { command: ['check'] },
]) {
  t.test(`${command.slice(0, 2).join(' ')} does not create a missing database`, async (t) => {
    const folder = t.testdir()
    const file = join(folder, 'plants.db')
    const stderr = `plant-store: there is no database ${file}${hint}\n`
    const finished = await runHere([...command, '--database', file])
    t.strictSame(finished, { code: 1, stdout: '', stderr })
    t.same(readdirSync(folder), [])
  })
}
