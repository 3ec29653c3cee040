import { chmodSync, readdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { thrownBy } from '../files.ts'

// With this umask, files are private only if the code makes them so.
const umask = process.umask(0)
t.teardown(() => process.umask(umask))

const modeOf = (...path: string[]) => statSync(join(...path)).mode & 0o777

t.test('a new database and its -wal and -shm are private', async (t) => {
  const folder = t.testdir()
  const db = openDatabase({ file: join(folder, 'plants.db'), lockTimeout: 0 })
  t.teardown(() => db.close())
  const names = readdirSync(folder)
  t.same(names, ['plants.db', 'plants.db-shm', 'plants.db-wal'])
  for (const name of names) t.equal(modeOf(folder, name), 0o600, name)
})

t.test('an existing database keeps its mode, and its WAL inherits it', async (t) => {
  const folder = t.testdir({ 'plants.db': '' })
  chmodSync(join(folder, 'plants.db'), 0o640)
  const db = openDatabase({ file: join(folder, 'plants.db'), lockTimeout: 0 })
  t.teardown(() => db.close())
  for (const name of readdirSync(folder)) t.equal(modeOf(folder, name), 0o640, name)
})

t.test('a private file is created at the target of a dangling symbolic link', async (t) => {
  const folder = t.testdir({ disk: { deep: {} }, elsewhere: {} })
  symlinkSync(join('disk', 'deep'), join(folder, 'linked'))
  symlinkSync(join('linked', 'plants.db'), join(folder, 'first.db'))
  // Relative to the target folder of the other link.
  symlinkSync('../plants.db', join(folder, 'disk', 'deep', 'plants.db'))
  openDatabase({ file: join(folder, 'first.db'), lockTimeout: 0 }).close()
  t.equal(modeOf(folder, 'disk', 'plants.db'), 0o600)
  t.same(readdirSync(join(folder, 'disk')), ['deep', 'plants.db'])
  t.same(readdirSync(join(folder, 'disk', 'deep')), ['plants.db'])
  t.equal(readlinkSync(join(folder, 'first.db')), join('linked', 'plants.db'))
})

t.test('a file that cannot be created is reported in one line and leaves no files', async (t) => {
  const folder = t.testdir({ 'a file': '' })
  symlinkSync('loop.db', join(folder, 'loop.db'))
  symlinkSync(join('missing', 'plants.db'), join(folder, 'astray.db'))
  const before = readdirSync(folder)
  for (const name of ['loop.db', 'astray.db', 'a file/plants.db']) {
    const error = thrownBy(() => openDatabase({ file: join(folder, name), lockTimeout: 0 }))
    t.ok(error instanceof StoreError, name)
    t.notMatch(error?.message, '\n')
  }
  t.same(readdirSync(folder), before)
})

t.test('a failed open leaves an empty private file for the next one', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'plants.db')
  t.ok(thrownBy(() => openDatabase({ file, lockTimeout: -1 })) instanceof StoreError)
  t.same(readdirSync(folder), ['plants.db'])
  t.match(statSync(file), { size: 0 })
  openDatabase({ file, lockTimeout: 0 }).close()
  t.ok(statSync(file).size > 0)
  t.equal(modeOf(file), 0o600)
})

t.test('names are trimmed as in SQLite, and a database without a file creates none', async (t) => {
  const folder = t.testdir({ empty: {} })
  openDatabase({ file: ` ${join(folder, 'plants.db')} `, lockTimeout: 0 }).close()
  t.equal(modeOf(folder, 'plants.db'), 0o600)
  const before = process.cwd()
  process.chdir(join(folder, 'empty'))
  t.teardown(() => process.chdir(before))
  for (const file of ['', ' ', ' :memory:']) {
    t.throws(() => openDatabase({ file, lockTimeout: 0 }), {
      constructor: StoreError,
      message: /: its file system does not support WAL with synchronous=FULL$/,
    })
  }
  openDatabase({ file: ':memory:', lockTimeout: 0 }).close()
  t.same(readdirSync('.'), [])
})
