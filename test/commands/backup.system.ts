import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { watch } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { backup } from '../../src/commands/backup/backup.ts'
import { StoreError } from '../../src/stores/shared/store-error.ts'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { createPlant, logged } from '../helpers/client.ts'
import { Command, MAIN, run, withoutTap } from '../helpers/command.ts'
import { runHere } from '../helpers/command-here.ts'
import { copying, filesOf } from './large-database.ts'

t.test('a backup contains every plant acknowledged before it started', async (t) => {
  const folder = t.testdir()
  const [database, file] = [join(folder, 'plants.db'), join(folder, 'backup.db')]
  const serve = (name: string) => new Command(t, ['--port', '0', '--database', name])
  const service = serve(database)
  const url = await service.listening()
  const token = readFileSync(join(folder, 'access-token'), 'utf8').trim()
  let id = 0
  const create = async () => {
    id += 1
    t.equal((await createPlant(url, token, { id, name: `plant ${id}` })).status, 200)
  }
  await create()
  const before = id
  const copying = run(t, ['backup', file, '--database', database])
  const during = copying.then(() => 'done')
  while ((await Promise.race([during, create()])) !== 'done');
  const { code, stdout } = await copying
  t.equal(code, 0)
  await create()

  t.same(
    readdirSync(folder).filter((name) => name.startsWith('backup')),
    ['backup.db', 'backup.db.sha256'],
  )
  const db = new Sqlite(file)
  const stored = db.prepare('SELECT id FROM plants ORDER BY id').pluck().all()
  const bytes = readFileSync(file).length
  db.close()
  t.ok(stored.length >= before && stored.length < id, `${before} <= ${stored.length} < ${id}`)
  t.same(
    stored,
    Array.from(stored, (_, index) => index + 1),
    'without a gap',
  )
  const counts = [stored.length, bytes].map((count) => count.toLocaleString('en'))
  t.match(stdout, `backed up to ${file}: ${counts[0]} plants, ${counts[1]} bytes, `)
  t.match(stdout, /, \d+\.\d s\n$/)

  const restored = await serve(file).listening()
  const last = { id: stored.length, name: `plant ${stored.length}` }
  t.equal((await createPlant(restored, token, last)).status, 200, 'the token is valid')
  t.equal((await createPlant(restored, token, { ...last, name: 'x' })).status, 409)
})

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

t.test('a refused backup prints one line and leaves no files', async (t) => {
  const folder = t.testdir({
    'taken.db': 'it is mine',
    'stale.db-wal': '',
    copies: {},
  })
  const database = join(folder, 'plants.db')
  openDatabase({ file: database, lockTimeout: 0 }).close()
  const before = readdirSync(folder)
  const into = (name: string) => join(folder, name)
  for (const [name, from, message] of [
    ['taken.db', database, `${into('taken.db')} already exists; nothing was overwritten`],
    ['copies', database, `${into('copies')} already exists; nothing was overwritten`],
    ['plants.db', database, `${into('plants.db')} already exists; nothing was overwritten`],
    ['stale.db', database, `${into('stale.db-wal')} already exists; nothing was overwritten`],
    [
      'plants.db-journal',
      database,
      /: SQLite uses such names for its own files; choose another name$/,
    ],
    ['no/copy.db', database, /^cannot write \S+\/no\/copy.db: ENOENT: [^\n]+$/],
    ['copy.db', into('none.db'), `there is no database ${into('none.db')}`],
    ['copy.db', ':memory:', 'a database in memory is private to its process: use a file'],
  ] as const) {
    await t.rejects(backup(into(name), from), { message }, `${name} of ${from}`)
  }
  t.same(readdirSync(folder), before)
  t.equal(readFileSync(into('taken.db'), 'utf8'), 'it is mine')

  const { code, stdout, stderr } = await runHere(['backup', into('taken.db')])
  t.match({ code, stdout }, { code: 1, stdout: '' })
  t.equal(stderr, `plant-store: ${into('taken.db')} already exists; nothing was overwritten\n`)
})

async function firstChangeIn(folder: string): Promise<void> {
  for await (const _ of watch(folder)) return
}

t.test('a file that appears during the backup is not overwritten', async (t) => {
  const folder = t.testdir()
  const [database, file] = [join(folder, 'plants.db'), join(folder, 'backup.db')]
  openDatabase({ file: database, lockTimeout: 0 }).close()
  const started = firstChangeIn(folder)
  const ended = t.rejects(
    backup(file, database),
    new StoreError(`${file} already exists; nothing was overwritten`),
  )
  // The backup has verified that the name is free, and is now copying.
  await started
  writeFileSync(file, 'it is mine')
  await ended
  t.equal(readFileSync(file, 'utf8'), 'it is mine')
  t.same(readdirSync(folder).sort(), ['backup.db', 'plants.db'])
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
