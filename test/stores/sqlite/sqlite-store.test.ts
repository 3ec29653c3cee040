import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { storeSuite } from '../store-suite.ts'

/** Long enough that a slow machine does not cause an error. */
const lockTimeout = 30_000

/** In memory, because these tests would spend half of their time waiting for the disk. */
const folder = makeFolder(t, inMemory())
let databases = 0

// writer-thread.system.ts tests changes with a writer thread, which takes ten times as long to start.
storeSuite(t, 'SQLite in a file', {
  lasting: true,
  place: () => {
    const file = join(folder, `${++databases}.db`)
    return async (options) => new SqliteStore({ file, lockTimeout, sameThread: true, ...options })
  },
})

storeSuite(t, 'SQLite in memory', {
  lasting: false,
  place: () => async (options) => new SqliteStore({ file: ':memory:', lockTimeout, ...options }),
})

t.test('a closed store leaves one file, without a WAL', async (t) => {
  const folder = t.testdir()
  const store = new SqliteStore({ file: join(folder, 'plants.db'), lockTimeout })
  await createIn(store, { id: 1n, name: 'x' })
  t.ok(existsSync(join(folder, 'plants.db-wal')))
  await store.close()
  t.same(readdirSync(folder), ['plants.db'])
})

for (const file of ['plants.db', ':memory:']) {
  t.test(`close can be called again: ${file}`, async (t) => {
    const path = file === ':memory:' ? file : join(t.testdir(), file)
    const store = new SqliteStore({ file: path, lockTimeout })
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  t.test(`an error that is a bug is passed on unchanged: ${file}`, async (t) => {
    const path = file === ':memory:' ? file : join(t.testdir(), file)
    const store = new SqliteStore({ file: path, lockTimeout })
    t.teardown(() => store.close())
    const wrong = { id: 1n, name: Symbol.iterator as unknown } as NewPlant
    await t.rejects(createIn(store, wrong), { name: /^(TypeError|DataCloneError)$/ })
    const unbindable = { id: 1n, name: new Map() as unknown } as NewPlant
    await t.rejects(createIn(store, unbindable), { name: 'TypeError', message: /can only bind/ })
    const mistyped = { id: 1n, name: null as unknown } as NewPlant
    await t.rejects(createIn(store, mistyped), {
      message: 'NOT NULL constraint failed: plants.name',
    })
    t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created', 'the store still works')
  })
}

t.test('a short-lived process refuses a database in memory', async (t) => {
  const options = { file: ':memory:', lockTimeout, sameThread: true }
  t.throws(() => new SqliteStore(options), {
    message: /^a database in memory is private to its process/,
  })
})
