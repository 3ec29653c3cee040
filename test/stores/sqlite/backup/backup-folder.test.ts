import {
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { SqliteBackupFolder } from '../../../../src/stores/sqlite/backup/backup-folder.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'

const LOCK = '.plant-store-backup.lock'

/** A time on November 21, and the name of a backup that begins then. */
const at = (time: string) => new Date(`2026-11-21T${time}.789Z`)
const named = (time: string) => `plants-2026-11-21T${time.replaceAll(':', '-')}Z.db`

const NOON = named('12:00:00')

/** The first bytes of a database that no service has used. */
const UNUSED = 'SQLite format 3\0\x10\0\x01\x01'

function filesOf(t: Test, contents: Record<string, string> = {}) {
  const root = t.testdir({ backups: contents })
  const database = join(root, 'plants.db')
  openDatabase({ file: database, lockTimeout: 0 }).close()
  return { database, folder: join(root, 'backups'), lockTimeout: 0, keep: 2 }
}

function open(t: Test, options: ReturnType<typeof filesOf>) {
  const backups = new SqliteBackupFolder(options)
  t.teardown(() => backups.close())
  const { signal } = new AbortController()
  return {
    ...options,
    backups,
    add: (time: string) => backups.add(at(time), signal),
  }
}

const list = (folder: string) =>
  readdirSync(folder).filter((name) => name !== LOCK && !name.endsWith('.sha256'))

t.test('backups and a new folder are private', async (t) => {
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  const files = filesOf(t)
  const folder = join(files.folder, 'of', 'plants')
  const { add } = open(t, { ...files, folder })
  const { file, plants, bytes, removed } = await add('12:00:00')
  t.equal(file, join(folder, NOON))
  t.match({ plants, bytes, removed }, { plants: 0, bytes: statSync(file).size, removed: [] })
  for (const name of readdirSync(folder)) t.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  const copy = new Sqlite(file, { readonly: true })
  t.equal(copy.prepare('SELECT count(*) FROM plants').pluck().get(), 0)
  copy.close()
})

t.test('the oldest backups are removed once a new one is complete', async (t) => {
  const { folder, backups, add } = open(t, filesOf(t, { [named('09:00:00')]: UNUSED }))
  t.equal(backups.newest(at('08:00:00')), undefined)
  const removed: unknown[] = []
  for (const time of ['10:00:00', '11:59:59', '12:00:00']) removed.push((await add(time)).removed)
  t.same(removed, [[], [named('09:00:00')], [named('10:00:00')]])
  t.same(list(folder), [named('11:59:59'), NOON])
  const checksums = readdirSync(folder).filter((name) => name.endsWith('.sha256'))
  t.same(checksums, [`${named('11:59:59')}.sha256`, `${NOON}.sha256`], 'like their checksums')
  t.same(backups.newest(at('23:00:00')), new Date('2026-11-21T12:00:00Z'))
})

t.test('a failed backup removes nothing', async (t) => {
  const old = ['08:00:00', '09:00:00', '10:00:00'].map(named)
  const files = filesOf(t, Object.fromEntries(old.map((name) => [name, UNUSED])))
  const { database, folder, add } = open(t, files)
  await t.rejects(
    add('10:00:00'),
    new StoreError(`${join(folder, named('10:00:00'))} already exists; nothing was overwritten`),
  )
  rmSync(database)
  await t.rejects(add('12:00:00'), new StoreError(`there is no database ${database}`))
  t.same(list(folder), old)
})

t.test('other files stay', async (t) => {
  const others = [
    'notes.txt',
    'plants.db',
    'plants-2026-02-30T09-00-00Z.db',
    'plants-2026-11-21T09-00-00.db',
    `${named('09:00:00')}.gz`,
    `my-${named('09:00:00')}`,
    `${named('09:00:00')}.partial-abc`,
    `${NOON}.partial-file12`,
    // In use as a database: it has a WAL.
    named('07:00:00'),
    `${named('07:00:00')}-wal`,
  ]
  const files = filesOf(t, Object.fromEntries(others.map((name) => [name, 'it is mine'])))
  const folders = [named('05:00:00'), 'x.db.partial-abc123', 'plants.partial-abc123']
  for (const name of folders) mkdirSync(join(files.folder, name))
  const link = named('06:00:00')
  symlinkSync('notes.txt', join(files.folder, link))
  const { folder, backups, add } = open(t, { ...files, keep: 1 })
  t.equal(backups.newest(at('23:00:00')), undefined)
  t.same((await add('12:00:00')).removed, [])
  t.same(list(folder).sort(), [...others, ...folders, link, NOON].sort())
})

t.test('a backup that was used as a database stays, even without a WAL', async (t) => {
  const files = filesOf(t, { [named('09:00:00')]: UNUSED })
  const { folder, backups, add } = open(t, { ...files, keep: 1 })
  const used = named('10:00:00')
  t.same((await add('10:00:00')).removed, [named('09:00:00')])
  openDatabase({ file: join(folder, used), lockTimeout: 0 }).close()
  t.same(list(folder), [used])
  t.equal(backups.newest(at('23:00:00')), undefined)
  writeFileSync(join(folder, named('11:00:00')), UNUSED)
  t.same((await add('12:00:00')).removed, [named('11:00:00')])
  t.same(list(folder), [used, NOON])
})

t.test('the database itself stays, also under another name', async (t) => {
  const files = filesOf(t)
  const link = named('09:00:00')
  linkSync(files.database, join(files.folder, link))
  const db = new Sqlite(files.database)
  db.pragma('journal_mode = DELETE')
  db.close()
  const { folder, add } = open(t, { ...files, keep: 1 })
  t.same((await add('11:00:00')).removed, [])
  t.same(list(folder), [link, named('11:00:00')])
})

t.test('a folder that contains the database is refused', async (t) => {
  const files = filesOf(t)
  const link = join(files.folder, '..', 'link.db')
  const database = join(files.folder, NOON)
  renameSync(files.database, database)
  symlinkSync(database, link)
  for (const each of [database, link]) {
    t.throws(() => new SqliteBackupFolder({ ...files, database: each }), {
      constructor: StoreError,
      message: /^cannot use the folder \S+: it contains the database itself; choose another one$/,
    })
  }
  t.same(readdirSync(files.folder), [NOON], 'and left as it was')
})

t.test('a clock that was wrong does not cost the newest backup', async (t) => {
  const files = filesOf(t, {
    [named('20:00:00')]: UNUSED,
    [named('21:00:00')]: UNUSED,
    [named('09:00:00')]: UNUSED,
  })
  const { folder, backups, add } = open(t, { ...files, keep: 3 })
  t.same(backups.newest(at('11:00:00')), new Date('2026-11-21T09:00:00Z'))
  t.same((await add('11:00:00')).removed, [named('20:00:00')])
  t.same((await add('12:00:00')).removed, [named('21:00:00')])
  t.same(list(folder), ['09:00:00', '11:00:00', '12:00:00'].map(named))
})

t.test('a folder that can no longer be listed does not make a published backup fail', async (t) => {
  const files = filesOf(t)
  const { folder } = files
  const backups = new SqliteBackupFolder({
    ...files,
    // Read once the backup has been published.
    get keep() {
      rmSync(folder, { recursive: true })
      return 2
    },
  })
  t.teardown(() => backups.close())
  const { file, problem } = await backups.add(at('12:00:00'), new AbortController().signal)
  t.equal(file, join(folder, NOON))
  t.match(problem, /^cannot remove old backups: ENOENT/)
  t.throws(() => backups.newest(at('12:00:00')), {
    constructor: StoreError,
    message: /^cannot list the backups in \S+: ENOENT/,
  })
})

t.test('what a killed process has left is removed', async (t) => {
  const files = filesOf(t, { [NOON]: UNUSED })
  const left = join(files.folder, `${named('13:00:00')}.partial-aB3_x9`)
  mkdirSync(left)
  writeFileSync(join(left, 'plants.db'), 'half of it')
  const { folder } = open(t, files)
  t.same(list(folder), [NOON])
})

t.test('only one process at a time uses a folder', async (t) => {
  const { backups, folder, ...others } = open(t, filesOf(t))
  const second = () => new SqliteBackupFolder({ ...others, folder })
  const reason = 'another process makes backups there'
  t.throws(second, new StoreError(`cannot use the folder ${folder}: ${reason}`))
  backups.close()
  second().close()
})

t.test('a backup for which there is no room does not begin', async (t) => {
  const { database, folder, add } = open(t, filesOf(t))
  truncateSync(database, 2 ** 43)
  await t.rejects(add('12:00:00'), {
    constructor: StoreError,
    message: /: 8,796,093,022,208 bytes are needed, [\d,]+ are free$/,
  })
  t.same(list(folder), [])
})

t.test('a folder that has disappeared is reported', async (t) => {
  const { folder, add } = open(t, filesOf(t))
  rmSync(folder, { recursive: true })
  await t.rejects(add('12:00:00'), {
    constructor: StoreError,
    message: /^cannot back up to \S+: ENOENT/,
  })
})

t.test('unsuitable folders and databases are refused', async (t) => {
  const files = filesOf(t, { file: '', [LOCK]: 'x'.repeat(5000) })
  for (const [options, message] of [
    [{ folder: join(files.folder, 'file') }, /^cannot use the folder \S+: EEXIST/],
    [{ folder: '' }, /^cannot use the folder : ENOENT/],
    [{}, /^cannot use the folder \S+: \S+lock: it is not an SQLite database$/],
    [{ database: ':memory:' }, /^a database in memory is private/],
  ] as const) {
    t.throws(() => new SqliteBackupFolder({ ...files, ...options }), {
      constructor: StoreError,
      message,
    })
  }
})
