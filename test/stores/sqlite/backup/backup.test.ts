import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { BackupOptions, OnProgress } from '../../../../src/stores/shared/engine.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { backUpDatabase, publish } from '../../../../src/stores/sqlite/backup/database-backup.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { overwritePage } from '../files.ts'

/** The options for the backup of a database. */
function optionsFor(t: Test, onProgress: OnProgress = () => {}) {
  const folder = t.testdir({ backups: {} })
  return {
    database: join(folder, 'plants.db'),
    file: join(folder, 'backups', 'copy.db'),
    lockTimeout: 0,
    signal: new AbortController().signal,
    onProgress,
  } satisfies BackupOptions
}

const INSERT = 'INSERT INTO plants (id, name) VALUES (?, ?)'

t.test('a copy is a snapshot, despite concurrent changes', async (t) => {
  const seen: [number, number][] = []
  const options = optionsFor(t, (done, total) => {
    seen.push([done, total])
    service.prepare(INSERT).run(100 + seen.length, 'meanwhile')
  })
  const service = openDatabase({ file: options.database, lockTimeout: 0 })
  t.teardown(() => service.close())
  // Too large to be copied in one step.
  for (let id = 1; id <= 40; id++) service.prepare(INSERT).run(id, 'x'.repeat(500_000))
  const copied = await backUpDatabase(options)
  t.equal(copied.plants, 40)
  t.equal(service.prepare('SELECT count(*) FROM plants').pluck().get(), BigInt(40 + seen.length))

  const [first, ...more] = seen
  const total = first?.[1] as number
  t.same(first, [0, total])
  t.ok(more.length > 1)
  t.ok(
    more.every(([done], index) => done > (seen[index]?.[0] ?? 0)),
    'the copy never restarts',
  )
  t.same(more.at(-1), [total, total])
  t.equal(copied.bytes, statSync(options.file).size)
  t.equal(copied.bytes, total * 4096)
})

t.test('without hard links, a copy is published, and still overwrites nothing', async (t) => {
  const folder = t.testdir({ copy: 'copied', taken: 'mine' })
  const [copy, file, taken] = ['copy', 'file', 'taken'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  // As exFAT and SMB do.
  const withoutLinks = async () => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  }
  await t.rejects(publish(copy, taken, withoutLinks), { code: 'EEXIST' })
  await t.rejects(publish(copy, join(folder, 'missing', 'file'), withoutLinks), { code: 'ENOENT' })
  const absent = join(folder, 'absent')
  await t.rejects(publish(absent, file, withoutLinks), { code: 'ENOENT' })
  await publish(copy, file, withoutLinks)
  t.same(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    [
      ['file', 'copied'],
      ['taken', 'mine'],
    ],
  )
})

t.test('a copy is one private file without a WAL', async (t) => {
  const options = optionsFor(t)
  const { database, file } = options
  openDatabase({ file: database, lockTimeout: 0 }).close()
  await backUpDatabase(options)
  t.same(readdirSync(dirname(file)), ['copy.db', 'copy.db.sha256'])
  t.equal(statSync(file).mode & 0o777, 0o600)
  const db = new Sqlite(file, { readonly: true })
  t.equal(db.pragma('journal_mode', { simple: true }), 'delete')
  db.close()
})

for (const [what, make, reason] of [
  ['no database', () => {}, /^there is no database \S+plants.db$/],
  ['an empty file', (file) => writeFileSync(file, ''), /: it is empty$/],
  [
    'a damaged one',
    damaged,
    /: the copy is damaged, and the database may be too: Tree \d+ page \d+: /,
  ],
] satisfies [string, (file: string) => void, RegExp][]) {
  t.test(`rejects ${what}`, async (t) => {
    const options = optionsFor(t)
    make(options.database)
    const error = await backUpDatabase(options).catch((error) => error)
    t.ok(error instanceof StoreError, error)
    t.match(error.message, reason)
    t.notMatch(error.message, '\n')
    t.same(readdirSync(dirname(options.file)), [])
  })
}

/** A database of five steps, and a backup of it that the test interrupts. */
function interruptible(t: Test, onProgress?: OnProgress) {
  const stop = new AbortController()
  const options = { ...optionsFor(t, onProgress), signal: stop.signal }
  const db = openDatabase({ file: options.database, lockTimeout: 0 })
  for (let id = 1; id <= 5; id++) db.prepare(INSERT).run(id, 'x'.repeat(1_000_000))
  db.close()
  return { options, stop, folder: dirname(options.file) }
}

for (const [what, isNow] of [
  ['copy', (copied) => copied > 0],
  ['verification', (copied, total) => copied === total],
] satisfies [string, (copied: number, total: number) => boolean][]) {
  t.test(`an interrupted ${what} leaves nothing`, async (t) => {
    const { folder, stop, options } = interruptible(t, (copied, total) => {
      if (!isNow(copied, total)) return
      stop.abort()
      t.same(readdirSync(folder), [], 'at once')
    })
    await t.rejects(backUpDatabase(options))
    t.same(readdirSync(folder), [])
  })
}

t.test('an interruption ends the process of the verification', async (t) => {
  const { folder, stop, options } = interruptible(t, (copied, total) => {
    // Once the process has been started.
    if (copied === total) setTimeout(() => stop.abort(), 1)
  })
  await t.rejects(backUpDatabase(options), { name: 'AbortError' })
  t.same(readdirSync(folder), [])
})

const skip = process.platform !== 'linux' && 'needs /proc'

t.test('a verification that is killed fails, and leaves nothing', { skip }, async (t) => {
  const { folder, options } = interruptible(t, (copied, total) => {
    if (copied === total) setImmediate(killVerification)
  })
  await t.rejects(backUpDatabase(options), {
    constructor: StoreError,
    message: /: the process that verifies the copy ended unexpectedly$/,
  })
  t.same(readdirSync(folder), [])
})

/** Kills the process as soon as it has been started. */
function killVerification(): void {
  const { pid } = process
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
  const isVerification = (child: string) =>
    child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('copy-verification')
  const child = children.find(isVerification)
  if (child === undefined) setImmediate(killVerification)
  else process.kill(Number(child), 'SIGKILL')
}

t.test('an interruption before the copy begins leaves nothing', async (t) => {
  const { folder, stop, options } = interruptible(t)
  stop.abort()
  await t.rejects(backUpDatabase(options), { name: 'AbortError' })
  t.same(readdirSync(folder), [])
})

t.test('a copy that cannot be verified is a fault', async (t) => {
  const { href } = new URL(
    '../../../../src/stores/sqlite/backup/copy-verification.ts',
    import.meta.url,
  )
  const missing = join(t.testdir(), 'missing.db')
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(href), missing])
  t.match(JSON.parse(stdout), { fault: /^it cannot be opened: / })
})

function damaged(file: string): void {
  const db = openDatabase({ file, lockTimeout: 0 })
  const insert = db.prepare(INSERT)
  db.transaction(() => {
    for (let id = 1; id <= 50; id++) insert.run(id, 'x'.repeat(500))
  })()
  db.close()
  overwritePage(file, 'plants')
}
