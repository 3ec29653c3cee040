import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { OnProgress } from '../../../src/stores/engine.ts'
import { copyDatabase } from '../../../src/stores/sqlite/backup/copy.ts'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'
import { lowerPriority } from '../../../src/stores/sqlite/backup/low-priority.ts'
import { copyInThread } from '../../../src/stores/sqlite/backup/threaded-backup.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { migrate, SCHEMA_VERSION } from '../../../src/stores/sqlite/file/sqlite-schema.ts'
import { StoreError } from '../../../src/stores/store-error.ts'
import { overwritePage } from './damage.ts'
import { sql } from './provoking.ts'

/** Paths of a database and its copy. */
function filesOf(t: Test) {
  const folder = t.testdir()
  return { file: join(folder, 'plants.db'), copy: join(folder, 'copy.db'), lockTimeout: 0 }
}

const INSERT = 'INSERT INTO plants (id, name) VALUES (?, ?)'

t.test('a copy is a snapshot, despite concurrent changes', async (t) => {
  const options = filesOf(t)
  const service = openDatabase(options)
  t.teardown(() => service.close())
  // Too large to be copied in one step.
  for (let id = 1; id <= 40; id++) service.prepare(INSERT).run(id, 'x'.repeat(500_000))
  const seen: [number, number][] = []
  const copied = await copyDatabase(options, (done, total) => {
    seen.push([done, total])
    service.prepare(INSERT).run(100 + seen.length, 'meanwhile')
  })
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
  t.equal(copied.bytes, statSync(options.copy).size)
  t.equal(copied.bytes, total * 4096)
})

t.test('a copy is one private file without a WAL', async (t) => {
  const folder = t.testdir({ copies: {} })
  const copy = join(folder, 'copies', 'copy.db')
  const options = { file: join(folder, 'plants.db'), copy, lockTimeout: 0 }
  openDatabase(options).close()
  await copyDatabase(options, () => {})
  t.same(readdirSync(join(folder, 'copies')), ['copy.db'])
  t.equal(statSync(copy).mode & 0o777, 0o600)
  const db = new Sqlite(copy, { readonly: true })
  t.equal(db.pragma('journal_mode', { simple: true }), 'delete')
  db.close()
})

t.test('the copy of an older database keeps its version', async (t) => {
  const options = filesOf(t)
  const db = new Sqlite(options.file)
  migrate(db, 1)
  db.close()
  await copyDatabase(options, () => {})
  for (const each of [options.file, options.copy]) {
    const opened = new Sqlite(each)
    t.equal(opened.pragma('user_version', { simple: true }), 1)
    opened.close()
  }
})

const NEWER = SCHEMA_VERSION + 1
for (const [what, make, reason] of [
  ['no database', () => {}, /^there is no database \S+plants.db$/],
  ['an empty file', (file) => writeFileSync(file, ''), /: it is empty$/],
  [
    'a plain-text file',
    (file) => writeFileSync(file, 'x'.repeat(5000)),
    /: it is not an SQLite database$/,
  ],
  [
    'the database of another program',
    sql('CREATE TABLE notes (text)'),
    / it belongs to another program$/,
  ],
  [
    'a database with a newer schema',
    (file) => {
      openDatabase({ file, lockTimeout: 0 }).close()
      sql(`PRAGMA user_version = ${NEWER}`)(file)
    },
    new RegExp(
      `: its schema has version ${NEWER}, but this program supports versions up to ${SCHEMA_VERSION}: `,
    ),
  ],
  [
    'a damaged one',
    damaged,
    /: the copy is damaged, and the database may be too: Tree \d+ page \d+: /,
  ],
] satisfies [string, (file: string) => void, RegExp][]) {
  t.test(`rejects ${what}`, async (t) => {
    const options = filesOf(t)
    make(options.file)
    const error = await copyDatabase(options, () => {}).catch((error) => error)
    t.ok(error instanceof StoreError, error)
    t.match(error.message, reason)
    t.notMatch(error.message, '\n')
  })
}

t.test('an existing file is not overwritten', async (t) => {
  const options = filesOf(t)
  openDatabase(options).close()
  writeFileSync(options.copy, '')
  const error = await copyDatabase(options, () => {}).catch((error) => error)
  t.ok(error instanceof StoreError)
  t.match(error.message, /: EEXIST: /)
  t.equal(statSync(options.copy).size, 0)
})

t.test('the thread reports the result of the copy', async (t) => {
  const options = filesOf(t)
  openDatabase(options).close()
  const seen: number[] = []
  const { signal } = new AbortController()
  const copied = await copyInThread(options, {
    onProgress: (done, total) => seen.push(done / total),
    signal,
  })
  t.equal(copied.plants, 0)
  t.equal(seen.at(-1), 1)
  const missing = { ...options, file: `${options.file}.missing` }
  const message = `there is no database ${missing.file}`
  await t.rejects(copyInThread(missing, { onProgress() {}, signal }), new StoreError(message))
  const defect = { ...options, lockTimeout: -1 }
  await t.rejects(copyInThread(defect, { onProgress() {}, signal }), { message: /timeout/ })
})

/** Starts a backup that the test can interrupt. */
function interruptible(t: Test) {
  const { file: database, lockTimeout } = filesOf(t)
  const db = openDatabase({ file: database, lockTimeout })
  for (let id = 1; id <= 5; id++) db.prepare(INSERT).run(id, 'x'.repeat(1_000_000))
  db.close()
  const folder = join(dirname(database), 'backups')
  mkdirSync(folder)
  const stop = new AbortController()
  const begin = (onProgress: OnProgress = () => {}) => {
    const { signal } = stop
    const options = { database, lockTimeout, file: join(folder, 'copy.db'), onProgress, signal }
    // At this rate a step takes a quarter of a second.
    return backUpDatabase({ ...options, bytesPerSecond: 2 ** 22 })
  }
  return { folder, stop, begin }
}

t.test('an interrupted copy leaves nothing', async (t) => {
  const { folder, stop, begin } = interruptible(t)
  const backup = begin((copied) => copied > 0 && stop.abort())
  await t.rejects(backup, { constructor: StoreError, message: /was interrupted$/ })
  t.same(readdirSync(folder), [])
})

t.test('an interruption before the copy begins leaves nothing', async (t) => {
  const { folder, stop, begin } = interruptible(t)
  stop.abort()
  await t.rejects(begin(), { name: 'AbortError' })
  t.same(readdirSync(folder), [])
})

t.test('an interruption before there is a file ends the thread', async (t) => {
  const options = filesOf(t)
  const stop = new AbortController()
  const copying = copyInThread(options, { onProgress() {}, signal: stop.signal })
  stop.abort()
  await t.rejects(copying, { constructor: StoreError, message: /was interrupted$/ })
})

t.test('a copy with a limit leaves the processor to the service', async (t) => {
  const { PRIORITY_BELOW_NORMAL } = constants.priority
  const set: number[] = []
  lowerPriority((priority) => set.push(priority))
  t.same(set, [Math.max(getPriority(), PRIORITY_BELOW_NORMAL)])
  lowerPriority(() => {
    throw new Error('a sandbox forbids it')
  })
})

t.test('an interrupted verification leaves nothing', async (t) => {
  const { folder, stop, begin } = interruptible(t)
  const backup = begin((copied, total) => copied === total && stop.abort())
  await t.rejects(backup, {
    constructor: StoreError,
    message: /^(cannot back up|the backup of|cannot write) /,
  })
  t.same(readdirSync(folder), [])
})

t.test('an interruption does not affect a published copy', async (t) => {
  const { folder, stop, begin } = interruptible(t)
  const { bytes } = await begin()
  stop.abort()
  t.equal(statSync(join(folder, 'copy.db')).size, bytes)
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
