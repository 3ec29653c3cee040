import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'
import { Command, MAIN, withoutTap } from '../helpers/command.ts'
import { copying, filesOf } from './large-database.ts'

const LOCK = '.plant-store-backup.lock'
const NAME = /^plants-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/

const list = (folder: string) =>
  readdirSync(folder).filter((name) => name !== LOCK && !name.endsWith('.sha256'))

t.test('backups are made until a signal, and the oldest are removed', async (t) => {
  const { database, folder } = filesOf(t, 1)
  const args = ['backup', '--every', '2s', '--keep', '1', folder, '--database', database]
  const command = new Command(t, args)
  const [, removed = ''] = await command.says(/; removed (\S+)\n/)
  command.process.kill('SIGTERM')
  const { code, stdout, stderr } = await command.finished()
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^backing up to \S+; the next backup begins at \d{4}-\S+Z\n/)
  t.match(stdout, /\nbacked up to \S+: 1 plants, [\d,]+ bytes, \d+\.\d s\n/)
  t.match(removed, NAME)
  const left = list(folder)
  t.equal(left.length, 1)
  t.match(left[0], NAME)

  const again = ['backup', '--every', '1h', folder, '--database', database]
  const hourly = new Command(t, again)
  const [, next = ''] = await hourly.says(/begins at (\S+)\n/)
  const minutes = (Date.parse(next) - Date.now()) / 60_000
  t.ok(minutes > 50 && minutes < 60, `in ${minutes} minutes, because the last backup is recent`)
  hourly.process.kill('SIGINT')
  t.equal((await hourly.finished()).code, 0)
  t.same(list(folder), left)
})

t.test('a signal ends a copy at once and leaves nothing of it', async (t) => {
  const { database, folder } = filesOf(t, 100)
  const begun = copying(folder)
  const args = ['backup', '--every', '1h', folder, '--database', database]
  const command = new Command(t, args)
  await begun
  const start = performance.now()
  command.process.kill('SIGTERM')
  t.match(await command.finished(), { code: 0, stderr: '' })
  t.ok(performance.now() - start < 60_000)
  t.same(list(folder), [])
})

const MOUNT = 'mount -t tmpfs -o size=6m none "$0" && exec "$@"'
const noMounts =
  spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT, t.testdir(), 'true']).status !== 0 &&
  'this user cannot mount file systems'

t.test('a full disk costs no backup, and the next succeeds', { skip: noMounts }, async (t) => {
  const { database, folder } = filesOf(t, 0)
  // In the WAL only, so that the size of the database does not show that the disk is too small.
  const db = openDatabase({ file: database, lockTimeout: 0 })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  // The plant and the feed have the name, so the database takes 2 MB.
  insert.run(1, 'x'.repeat(1_000_000))
  const args = [process.execPath, MAIN, 'backup', '--every', '3s', folder, '--database', database]
  const line = ['unshare', '-rm', 'sh', '-c', MOUNT, folder, ...args]
  const command = spawn(...withoutTap(line), { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => command.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  const says = async (stream: 'stdout' | 'stderr', pattern: RegExp) => {
    while (!pattern.test(said[stream])) said[stream] += (await once(command[stream], 'data'))[0]
  }
  await says('stdout', /backed up to/)
  // The mount is visible only to the command, so it is accessed through its root.
  const inside = join('/proc', `${command.pid}`, 'root', folder)
  const filler = join(inside, 'filler')
  writeFileSync(filler, Buffer.alloc(2_500_000))
  await says(
    'stderr',
    /^plant-store: cannot copy the database .*: database or disk is full; trying again in /m,
  )
  db.pragma('wal_checkpoint(TRUNCATE)')
  await says(
    'stderr',
    /^plant-store: cannot back up to .* bytes are needed, [\d,]+ are free; trying again in /m,
  )
  t.equal(list(inside).filter((name) => NAME.test(name)).length, 1, 'the first backup stays')
  rmSync(filler)
  said.stdout = ''
  await says('stdout', /backed up to/)
  const exit = once(command, 'exit')
  command.kill('SIGTERM')
  t.same(await exit, [0, null])
})
