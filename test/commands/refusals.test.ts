import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { runHere } from '../helpers/processes/command-here.ts'

t.test('a file that is not a database stops the start and is not modified', async (t) => {
  const text = 'id,name,tag\n'.repeat(1000)
  const file = join(t.testdir({ 'plants.db': text }), 'plants.db')
  t.strictSame(await runHere(['--port', '0', '--database', file]), {
    code: 1,
    stdout: '',
    stderr: `plant-store: cannot use the database ${file}: it is not an SQLite database\n`,
  })
  t.equal(readFileSync(file, 'utf8'), text)
})

t.test('a locked database stops the first start with a one-line error', async (t) => {
  const holder = new Sqlite(join(t.testdir(), 'plants.db'))
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const args = ['--port=0', '--lock-timeout=100ms', '--database', holder.name]
  const { code, stderr } = await runHere(args)
  t.equal(code, 1)
  t.match(stderr, /^plant-store: .*(busy|another process has locked it).*\n$/)
})

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

const EXISTING = join(t.testdir(), 'existing.db')
openDatabase({ file: EXISTING, lockTimeout: 0 }).close()

t.test('token copy needs the database that it copies from', async (t) => {
  const missing = `${EXISTING}.missing`
  const stderr = `plant-store: there is no database ${missing}\n`
  const copied = await runHere(['token', 'copy', missing, '--database', EXISTING])
  t.strictSame(copied, { code: 1, stdout: '', stderr })
})

for (const { command, hint = '' } of [
  { command: ['token', 'list'] },
  { command: ['token', 'revoke', 'x'] },
  { command: ['token', 'create', '--name', 'x'], hint: HINT },
  { command: ['token', 'copy', EXISTING] },
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
