import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { OnProgress } from '../../../src/stores/shared/engine.ts'
import { StoreError } from '../../../src/stores/shared/store-error.ts'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'
import { isUnused } from '../../../src/stores/sqlite/check/checksum.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { backUp } from './files.ts'

/** A database with a plant, and a backup of it. */
const plants = join(t.testdir(), 'plants.db')
const db = openDatabase({ file: plants, lockTimeout: 0 })
db.exec(`INSERT INTO plants (id, name) VALUES (1, 'Abies alba Mill.')`)
db.close()
const original = join(t.testdirName, 'backup.db')
const summary = await backUp(plants, original)

/** A copy of the backup and of its checksum. */
function copyBackup(t: Test) {
  const file = join(t.testdir(), 'backup.db')
  const checksum = `${file}.sha256`
  copyFileSync(original, file)
  copyFileSync(`${original}.sha256`, checksum)
  return { file, checksum }
}

/** The findings of `check` about the checksum. */
function check(file: string) {
  const results = [...checkDatabase({ file, lockTimeout: 0 })]
  return results.filter(({ subject }) => subject === 'checksum')
}

t.test('a backup has a checksum in the format of sha256sum', async (t) => {
  const { file, checksum } = copyBackup(t)
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
  t.equal(summary.sha256, sha256)
  t.equal(readFileSync(checksum, 'utf8'), `${sha256}  backup.db\n`)
  t.equal(statSync(`${original}.sha256`).mode & 0o777, 0o600)
  t.same(check(file), [{ subject: 'checksum', status: 'ok', message: sha256 }])
})

t.test('sha256sum escapes some characters of names', async (t) => {
  const file = join(t.testdir(), 'a\\b\nc.db')
  const summary = await backUp(plants, file)
  t.equal(readFileSync(`${file}.sha256`, 'utf8'), `\\${summary.sha256}  a\\\\b\\nc.db\n`)
  t.match(check(file), [{ status: 'ok' }])
})

t.test('check finds a flipped bit that leaves the structure intact', async (t) => {
  const { file, checksum } = copyBackup(t)
  const bytes = readFileSync(file)
  const letter = bytes.indexOf('Abies')
  bytes.writeUInt8(bytes.readUInt8(letter) ^ 1, letter)
  writeFileSync(file, bytes)
  const faults = [...checkDatabase({ file, lockTimeout: 0 })].filter(
    (each) => each.status === 'fault',
  )
  const message = `the file has changed since the backup: see ${checksum}`
  t.same(faults, [
    {
      subject: 'changes',
      status: 'fault',
      message: 'the last changes in the feed differ from the plants 1',
    },
    { subject: 'checksum', status: 'fault', message },
  ])
})

t.test('a backup that was used as a database is not compared', async (t) => {
  const { file } = copyBackup(t)
  openDatabase({ file, lockTimeout: 0 }).close()
  const message = 'not compared: the backup has been used as a database since'
  t.same(check(file), [{ subject: 'checksum', status: 'ok', message }])
})

t.test('a file that cannot be read does not count as an unused backup', async (t) => {
  const { file } = copyBackup(t)
  t.ok(isUnused(file))
  const link = `${file}.link`
  symlinkSync('missing', link)
  for (const unreadable of [link, dirname(file), join(file, 'missing')])
    t.notOk(isUnused(unreadable))
})

t.test('a checksum that cannot be read is reported', async (t) => {
  const { file, checksum } = copyBackup(t)
  writeFileSync(checksum, 'none')
  t.match(check(file), [{ status: 'fault', message: `${checksum} has no SHA-256` }])
  const folder = t.testdir({ 'backup.db': readFileSync(file) })
  const copy = join(folder, basename(file))
  t.same(check(copy), [], 'a copy without a checksum')
  mkdirSync(`${copy}.sha256`)
  t.throws(() => check(copy), {
    constructor: StoreError,
    message: /^cannot read \S+sha256: EISDIR/,
  })
})

/** The options of a backup to copy.db, next to files with the given contents. */
function prepare(t: Test, files: Record<string, string>, onProgress: OnProgress = () => {}) {
  const folder = t.testdir({ 'plants.db': readFileSync(plants), ...files })
  const [database, copy] = [join(folder, 'plants.db'), join(folder, 'copy.db')]
  const { signal } = new AbortController()
  const options = { database, file: copy, lockTimeout: 0, signal, onProgress }
  return { folder, copy, checksum: `${copy}.sha256`, options }
}

t.test('a checksum whose backup was moved or removed is replaced', async (t) => {
  const { copy, checksum, options, folder } = prepare(t, { 'copy.db.sha256': 'old' })
  const { sha256 } = await backUpDatabase(options)
  t.equal(readFileSync(checksum, 'utf8'), `${sha256}  copy.db\n`)
  t.match(check(copy), [{ status: 'ok', message: sha256 }])
  t.same(readdirSync(folder).sort(), ['copy.db', 'copy.db.sha256', 'plants.db'])
})

t.test('a failed backup leaves the checksum of an earlier one', async (t) => {
  const { checksum, options, folder } = prepare(t, { 'copy.db.sha256': 'old' })
  await t.rejects(backUpDatabase({ ...options, database: join(folder, 'none.db') }))
  t.equal(readFileSync(checksum, 'utf8'), 'old')
})

t.test('a backup whose checksum cannot be written is not published', async (t) => {
  const { checksum, options, folder } = prepare(t, {})
  mkdirSync(checksum)
  await t.rejects(backUpDatabase(options), {
    constructor: StoreError,
    message: /^cannot write \S+copy.db: .*EISDIR/,
  })
  t.same(readdirSync(folder).sort(), ['copy.db.sha256', 'plants.db'])
})

for (const files of [{}, { 'copy.db.sha256': 'mine' }]) {
  const names = Object.keys(files)
  t.test(`a name that is taken during the copy keeps ${names[0] ?? 'no checksum'}`, async (t) => {
    const onProgress = () => writeFileSync(copy, 'mine')
    const { copy, checksum, options } = prepare(t, files, onProgress)
    const message = `${copy} already exists; nothing was overwritten`
    await t.rejects(backUpDatabase(options), new StoreError(message))
    t.equal(readFileSync(copy, 'utf8'), 'mine')
    t.equal(existsSync(checksum) && readFileSync(checksum, 'utf8'), names.length > 0 && 'mine')
  })
}
