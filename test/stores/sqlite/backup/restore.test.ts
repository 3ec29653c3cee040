import { hash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { OnProgress, RestoreOptions } from '../../../../src/stores/shared/engine.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { restoreDatabase } from '../../../../src/stores/sqlite/backup/database-restore.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { backUp, overwritePage, sql } from '../files.ts'

/** A backup with 5 MB of plants. */
const original = join(t.testdir(), 'original.db')
const db = openDatabase({ file: join(t.testdirName, 'plants.db'), lockTimeout: 0 })
const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
for (let id = 1; id <= 5; id++) insert.run(id, 'x'.repeat(1_000_000))
db.close()
const summary = await backUp(db.name, original)

const MINE = hash('sha256', 'mine')

/** A copy of the backup, and the options to restore it to a missing folder. */
async function prepare(t: Test, onProgress: OnProgress = () => {}) {
  const root = t.testdir({ backups: {} })
  const backup = join(root, 'backups', 'backup.db')
  for (const suffix of ['', '.sha256']) copyFileSync(original + suffix, backup + suffix)
  const stop = new AbortController()
  const { signal } = stop
  const folder = join(root, 'data')
  const options: RestoreOptions = {
    database: join(folder, 'plants.db'),
    backup,
    onProgress,
    signal,
  }
  return { options, folder, stop }
}

/** The files in a folder with hashes of their contents. */
function contentsOf(folder: string) {
  return readdirSync(folder).map((name) => [name, hash('sha256', readFileSync(join(folder, name)))])
}

async function rejects(t: Test, options: RestoreOptions, message: RegExp): Promise<void> {
  const before = contentsOf(dirname(options.backup))
  await t.rejects(restoreDatabase(options), { constructor: StoreError, message })
  t.same(contentsOf(dirname(options.backup)), before, 'the backup stays')
}

t.test('a restored database is the backup, in one private file', async (t) => {
  const seen: [number, number][] = []
  const { options, folder } = await prepare(t, (...each) => seen.push(each))
  const { backup, database } = options
  const before = contentsOf(dirname(backup))
  chmodSync(backup, 0o444)
  chmodSync(dirname(backup), 0o555)
  t.strictSame(await restoreDatabase(options), { ...summary, isCompared: true })
  chmodSync(dirname(backup), 0o755)
  t.same(contentsOf(dirname(backup)), before)
  t.same(readdirSync(folder), ['plants.db'])
  t.same([statSync(database).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700])
  t.ok(readFileSync(database).equals(readFileSync(backup)))
  t.same(seen.at(-1), [summary.bytes, summary.bytes])
  t.ok(seen.length > 4)
})

t.test('a backup without a checksum is restored', async (t) => {
  const { options } = await prepare(t)
  rmSync(`${options.backup}.sha256`)
  t.strictSame(await restoreDatabase(options), { ...summary, isCompared: false })
})

for (const name of ['plants.db', 'plants.db-wal', 'plants.db-shm', 'plants.db-journal']) {
  t.test(`an existing ${name} is not overwritten`, async (t) => {
    const { options, folder } = await prepare(t)
    mkdirSync(folder)
    writeFileSync(join(folder, name), 'mine')
    await rejects(t, options, new RegExp(`/${name} already exists; nothing was overwritten$`))
    t.same(contentsOf(folder), [[name, MINE]])
  })
}

t.test('a symbolic link to a missing file is not followed', async (t) => {
  const { options, folder } = await prepare(t)
  mkdirSync(folder)
  symlinkSync('elsewhere.db', options.database)
  await rejects(t, options, /plants.db already exists; nothing was overwritten$/)
  t.same(readdirSync(folder), ['plants.db'])
})

t.test('a file that appears during the restore is not overwritten', async (t) => {
  const { options, folder } = await prepare(t, () => writeFileSync(options.database, 'mine'))
  await rejects(t, options, /plants.db already exists; nothing was overwritten$/)
  t.same(contentsOf(folder), [['plants.db', MINE]])
})

const flipBit = (file: string) => {
  const bytes = readFileSync(file)
  const letter = bytes.indexOf('xxxx')
  bytes.writeUInt8(bytes.readUInt8(letter) ^ 1, letter)
  writeFileSync(file, bytes)
}
const withoutChecksum = (file: string) => rmSync(`${file}.sha256`)

for (const [what, change, message] of [
  ['missing', (file) => rmSync(file), /^there is no backup \S+backup.db$/],
  ['changed', flipBit, /: the file has changed since the backup: see \S+backup.db.sha256$/],
  [
    'damaged',
    (file) => {
      withoutChecksum(file)
      overwritePage(file, 'plants')
    },
    /: the copy is damaged, and the database may be too: /,
  ],
  ['empty', (file) => writeFileSync(file, ''), /: it is not a backup, or it has been used as /],
  [
    'used as a database',
    (file) => openDatabase({ file, lockTimeout: 0 }).close(),
    /: it is not a backup, or it has been used as a database since\. Copy a database with /,
  ],
  [
    'of another program',
    (file) => {
      withoutChecksum(file)
      rmSync(file)
      sql('CREATE TABLE notes (text)')(file)
    },
    /: it belongs to another program$/,
  ],
  [
    'a folder',
    (file) => {
      rmSync(file)
      mkdirSync(file)
    },
    /: EISDIR: /,
  ],
  [
    'without its SHA-256',
    (file) => writeFileSync(`${file}.sha256`, 'mine'),
    /backup.db.sha256 has no SHA-256$/,
  ],
] satisfies [string, (file: string) => void, RegExp][]) {
  t.test(`a backup that is ${what} is refused`, async (t) => {
    const { options, folder } = await prepare(t)
    change(options.backup)
    const before = names(dirname(options.backup))
    await t.rejects(restoreDatabase(options), { constructor: StoreError, message })
    t.same(names(dirname(options.backup)), before)
    t.same(existsSync(folder) ? readdirSync(folder) : [], [])
  })
}

const names = (folder: string) => readdirSync(folder)

t.test('a database in a file is required', async (t) => {
  const { options } = await prepare(t)
  await rejects(t, { ...options, database: ':memory:' }, /private to its process: use a file$/)
  const database = join(options.backup, 'plants.db')
  await rejects(t, { ...options, database }, /^cannot write \S+plants.db: ENOTDIR|already exists/)
})

// database-backup.ts does the rest, as for a backup.
t.test('an interrupted copy leaves nothing', async (t) => {
  const { options, folder, stop } = await prepare(t, (copied) => {
    if (copied === 0) return
    stop.abort()
    t.same(readdirSync(folder), [], 'at once')
  })
  await t.rejects(restoreDatabase(options), { name: 'AbortError' })
  t.same(readdirSync(folder), [])
})
