import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { Command, MAIN, withoutTap } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { logged } from '../../helpers/service/client.ts'
import { copying, filesOf } from '../large-database.ts'

/** A database that takes a while to copy, and the file for its backup. */
function largeDatabase(t: Test, megabytes: number) {
  const { database, folder } = filesOf(t, megabytes)
  return { database, file: join(folder, 'backup.db') }
}

t.test('a signal ends a verification immediately and leaves no files', async (t) => {
  const { database, file } = largeDatabase(t, 100)
  const command = new Command(t, ['backup', file, '--database', database])
  await logged(command, 'now verifying')
  command.process.kill('SIGTERM')
  const { code, stdout, stderr } = await command.finished()
  t.match({ code, stdout }, { code: null, stdout: '' })
  t.match(stderr, `plant-store: interrupted: ${file} was not created\n`)
  t.equal(command.process.signalCode, 'SIGTERM')
  t.same(readdirSync(dirname(file)), [])
})

t.test(
  'a killed backup leaves only a partial folder, which does not affect the next backup',
  async (t) => {
    const { database, file } = largeDatabase(t, 100)
    const args = ['backup', file, '--database', database]
    const begun = copying(dirname(file))
    const command = new Command(t, args)
    await begun
    command.process.kill('SIGKILL')
    await command.finished()
    const left = readdirSync(dirname(file))
    t.match(left, [/^backup\.db\.partial-/])
    t.equal(left.length, 1)
    t.match(await runHere(args), { code: 0, stdout: /: 100 plants, / })
    t.same(readdirSync(dirname(file)).sort(), ['backup.db', ...left, 'backup.db.sha256'])
  },
)

t.test('a backup prints its plants, bytes and time', async (t) => {
  const { database, file } = largeDatabase(t, 1)
  const { code, stdout, stderr } = await runHere(['backup', file, '--database', database])
  t.strictSame({ code, stderr }, { code: 0, stderr: 'backup: copied, now verifying the copy\n' })
  const bytes = readFileSync(file).length.toLocaleString('en')
  t.match(stdout, `backed up to ${file}: 1 plants, ${bytes} bytes, `)
  t.match(stdout, /^.*, \d+\.\d s\n$/)
  t.same(readdirSync(dirname(file)), ['backup.db', 'backup.db.sha256'])
})

t.test('a refused backup prints one line and leaves no files', async (t) => {
  const folder = t.testdir({ 'taken.db': 'it is mine', 'stale.db-wal': '' })
  const database = join(folder, 'plants.db')
  openDatabase({ file: database, lockTimeout: 0 }).close()
  const before = readdirSync(folder)
  const into = (name: string) => join(folder, name)
  for (const [name, from, reason] of [
    ['taken.db', database, `${into('taken.db')} already exists; nothing was overwritten`],
    ['stale.db', database, `${into('stale.db-wal')} already exists; nothing was overwritten`],
    ['plants.db-journal', database, /SQLite uses such names for its own files; choose another/],
    ['no/copy.db', database, /^plant-store: cannot write \S+\/no\/copy.db: ENOENT: [^\n]+\n$/],
    ['copy.db', into('none.db'), `there is no database ${into('none.db')}`],
    ['copy.db', ':memory:', 'a database in memory is private to its process: use a file'],
  ] as const) {
    const refused = await runHere(['backup', into(name), '--database', from])
    const stderr = typeof reason === 'string' ? `plant-store: ${reason}\n` : reason
    t.match(refused, { code: 1, stdout: '', stderr }, name)
  }
  t.same(readdirSync(folder), before)
  t.equal(readFileSync(into('taken.db'), 'utf8'), 'it is mine')
})

const MOUNT = 'mount -t tmpfs -o size=1m none "$0" && { "$@"; code=$?; ls -A "$0"; exit $code; }'
const noMounts =
  spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, t.testdir(), 'true']).status !== 0 &&
  'this user cannot mount file systems'

t.test('a backup to a full disk fails and leaves no files', { skip: noMounts }, async (t) => {
  const { database, file } = largeDatabase(t, 2)
  const args = [process.execPath, MAIN, 'backup', file, '--database', database]
  const line = ['unshare', '-rm', 'sh', '-c', MOUNT, dirname(file), ...args]
  const ended = spawnSync(...withoutTap(line))
  t.equal(ended.status, 1)
  t.equal(`${ended.stdout}`, '', 'no output and no file')
  const reason = 'database or disk is full'
  t.equal(`${ended.stderr}`, `plant-store: cannot copy the database ${database}: ${reason}\n`)
})
