import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { commitsIn } from './files.ts'

t.test('commits of the writer wait for the disk', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const script = new URL('./writer/writer-settings.ts', import.meta.url)
  const thread = new Worker(script, { workerData: { file, lockTimeout: 0 } })
  const [settings] = await once(thread, 'message')
  t.same(settings, [{ journal: 'wal', synchronous: 2n }])
  thread.postMessage('close')
  await once(thread, 'exit')
})

// SQLite from 3.7.0 to 3.51.2 can corrupt a database if two connections write and checkpoint at the same instant, as our
// threads and commands can: https://www.sqlite.org/wal.html#walresetbug
t.test('the version of SQLite is one without the WAL-reset bug', async (t) => {
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  t.equal(db.prepare('SELECT sqlite_version()').pluck().get(), '3.54.1')
  db.close()
})

t.test('a single create is a transaction, and is in the WAL before it resolves', async (t) => {
  const { store, file } = await storeWithPlant(t)
  const before = commitsIn(file)
  for (let id = 1n; id <= 10n; id++) {
    await createIn(store, { id, name: 'x' })
    t.equal(commitsIn(file), before + Number(id))
  }
})

for (const [arriving, commits] of [
  [2, 1],
  [512, 1],
  [513, 2],
  [2000, 4],
] as const) {
  t.test(`${arriving} concurrent creates share ${commits} commits`, async (t) => {
    const { store, file } = await storeWithPlant(t)
    const before = commitsIn(file)
    await Promise.all(
      Array.from({ length: arriving }, (_, id) =>
        createIn(store, { id: BigInt(id) + 1n, name: 'x' }),
      ),
    )
    t.equal(commitsIn(file) - before, commits)
  })
}

t.test('a create that changes nothing adds nothing to the WAL', async (t) => {
  const { store, file } = await storeWithPlant(t)
  const before = commitsIn(file)
  t.equal(await createIn(store, { id: 0n, name: 'first' }), 'unchanged')
  t.equal(await createIn(store, { id: 0n, name: 'other' }), 'plant-exists')
  t.equal(commitsIn(file), before)
})

async function storeWithPlant(t: Test) {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const file = join(t.testdir(), 'plants.db')
  store = new SqliteStore({ file, lockTimeout: 60_000 })
  await createIn(store, { id: 0n, name: 'first' })
  return { store, file }
}
