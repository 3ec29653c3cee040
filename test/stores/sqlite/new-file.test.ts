import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/database.ts'
import { StoreError } from '../../../src/stores/store-error.ts'
import { thrownBy } from './provoking.ts'

// What is not private is not so by the umask.
const umask = process.umask(0)
t.teardown(() => process.umask(umask))

const modeOf = (...path: string[]) => statSync(join(...path)).mode & 0o777

t.test('a new database, its log and its index of the log are private', async (t) => {
  const folder = t.testdir()
  const db = openDatabase({ file: join(folder, 'plants.db'), lockTimeout: 0 })
  t.teardown(() => db.close())
  const names = readdirSync(folder)
  t.same(names, ['plants.db', 'plants.db-shm', 'plants.db-wal'])
  for (const name of names) t.equal(modeOf(folder, name), 0o600, name)
})

t.test('a database that exists keeps its mode, and passes it on to its log', async (t) => {
  const folder = t.testdir({ 'plants.db': '' })
  chmodSync(join(folder, 'plants.db'), 0o640)
  const db = openDatabase({ file: join(folder, 'plants.db'), lockTimeout: 0 })
  t.teardown(() => db.close())
  for (const name of readdirSync(folder)) t.equal(modeOf(folder, name), 0o640, name)
})

t.test('a symbolic link to a file that does not exist yet leads to a private one', async (t) => {
  const folder = t.testdir({ disk: { deep: {} }, elsewhere: {} })
  symlinkSync(join('disk', 'deep'), join(folder, 'linked'))
  symlinkSync(join('linked', 'plants.db'), join(folder, 'first.db'))
  // Relative to the folder that the other link leads to.
  symlinkSync('../plants.db', join(folder, 'disk', 'deep', 'plants.db'))
  openDatabase({ file: join(folder, 'first.db'), lockTimeout: 0 }).close()
  t.equal(modeOf(folder, 'disk', 'plants.db'), 0o600)
  t.same(readdirSync(join(folder, 'disk')), ['deep', 'plants.db'])
  t.same(readdirSync(join(folder, 'disk', 'deep')), ['plants.db'])
  t.equal(readlinkSync(join(folder, 'first.db')), join('linked', 'plants.db'))
})

t.test('what cannot be made is refused in a line, and leaves nothing', async (t) => {
  const folder = t.testdir({ 'a file': '' })
  symlinkSync('loop.db', join(folder, 'loop.db'))
  symlinkSync(join('missing', 'plants.db'), join(folder, 'astray.db'))
  const before = readdirSync(folder)
  for (const name of ['loop.db', 'astray.db', 'missing/plants.db', 'a file/plants.db']) {
    const error = thrownBy(() => openDatabase({ file: join(folder, name), lockTimeout: 0 }))
    t.ok(error instanceof StoreError, name)
    t.notMatch(error?.message, '\n')
  }
  t.same(readdirSync(folder), before)
})

t.test('an open that fails leaves an empty private file, for the next one to use', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'plants.db')
  t.ok(thrownBy(() => openDatabase({ file, lockTimeout: -1 })) instanceof StoreError)
  t.same(readdirSync(folder), ['plants.db'])
  t.match(statSync(file), { size: 0 })
  openDatabase({ file, lockTimeout: 0 }).close()
  t.ok(statSync(file).size > 0)
  t.equal(modeOf(file), 0o600)
})

t.test('a name is read as SQLite reads it, and a database without a file gets none', async (t) => {
  const folder = t.testdir({ empty: {} })
  openDatabase({ file: ` ${join(folder, 'plants.db')} `, lockTimeout: 0 }).close()
  t.equal(modeOf(folder, 'plants.db'), 0o600)
  const before = process.cwd()
  process.chdir(join(folder, 'empty'))
  t.teardown(() => process.chdir(before))
  for (const file of ['', ' ', ' :memory:']) {
    t.ok(thrownBy(() => openDatabase({ file, lockTimeout: 0 })) instanceof StoreError)
  }
  openDatabase({ file: ':memory:', lockTimeout: 0 }).close()
  t.same(readdirSync('.'), [])
})

t.test('a file that appears meanwhile is left as it is', async (t) => {
  const { createDatabaseFile } = await import('../../../src/stores/sqlite/new-file.ts')
  const folder = t.testdir()
  mkdirSync(join(folder, 'a folder'))
  writeFileSync(join(folder, 'plants.db'), 'by another process')
  for (const name of ['plants.db', 'a folder']) createDatabaseFile(join(folder, name))
  t.equal(statSync(join(folder, 'plants.db')).size, 18)
  t.same(readdirSync(folder), ['a folder', 'plants.db'])
  t.ok(existsSync(join(folder, 'a folder')))
})
