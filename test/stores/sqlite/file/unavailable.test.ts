import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { TokenStore } from '../../../../service/token-store.ts'
import { GroupCommit } from '../../../../src/stores/shared/group-commit.ts'
import { damagedError } from '../../../../src/stores/shared/store-error.ts'
import { openDatabase } from '../../../../src/stores/sqlite/file/database.ts'
import { SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts'
import { measureCall, type WriteCall } from '../../../../src/stores/sqlite/writer/write-call.ts'
import { Writer } from '../../../../src/stores/sqlite/writer/writer.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../../../helpers/plants/single-changes.ts'
import { exported, pageWith } from '../../plants.ts'

const BUSY = new StoreUnavailable('busy', 'SQLITE_BUSY')
const FULL = new StoreUnavailable('failing', 'SQLITE_FULL')
/** What changes get once damage was found. */
const REFUSED = damagedError('its file was found damaged earlier')

const DAMAGED = damagedError('SQLITE_CORRUPT')

/** Stores on a database that another connection has locked for writing. */
async function lockedStores(t: Test, ...lockTimeouts: number[]) {
  const stores: SqliteStore[] = []
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const file = join(t.testdir(), 'plants.db')
  for (const lockTimeout of lockTimeouts) stores.push(new SqliteStore({ file, lockTimeout }))
  // The first create waits until the writer's thread has opened the database.
  for (const store of stores) await createIn(store, { id: 0n, name: 'before' })
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return { stores, other }
}

const CI = { name: 'ci', digest: new Uint8Array(32), scopes: [], createdAt: new Date(0) }

t.test('a change waits for a lock up to the timeout, then the store is busy', async (t) => {
  const { stores, other } = await lockedStores(t, 100)
  const store = stores[0] as SqliteStore
  const start = performance.now()
  const changes = await Promise.allSettled([
    ...['a', 'b', 'c'].map((name, id) => createIn(store, { id: BigInt(id) + 1n, name })),
    new TokenStore(store).add(CI),
  ])
  for (const change of changes) t.match(change, { status: 'rejected', reason: BUSY })
  t.ok(performance.now() - start >= 90, 'it waited')
  other.exec('ROLLBACK')
  for (const [id, name] of ['a', 'b', 'c'].entries()) {
    t.equal(
      await createIn(store, { id: BigInt(id) + 1n, name }),
      'created',
      'no change was made partially',
    )
  }
})

t.test('a clock that is set back does not prolong the wait for a lock', async (t) => {
  const { stores } = await lockedStores(t, 100)
  const { now } = Date
  // Ahead of the clock of the writer's thread.
  Date.now = () => now() + 3_600_000
  const waiting = createIn(stores[0] as SqliteStore, { id: 1n, name: 'x' })
  // Submitted in the next turn of the event loop.
  await setImmediate()
  Date.now = now
  await t.rejects(waiting, BUSY)
})

t.test('reads do not wait for a write lock', async (t) => {
  const { stores, other } = await lockedStores(t, 30_000)
  const store = stores[0] as SqliteStore
  const waiting = createIn(store, { id: 1n, name: 'x' })
  await store.ping()
  const before = { id: 0n, name: 'before' }
  t.strictSame(await store.get(0n), before)
  t.strictSame(await store.list({ limit: 10 }), pageWith([before]))
  t.strictSame(await exported(store), [before])
  t.same(await new TokenStore(store).list(), [])
  t.equal(await new TokenStore(store).find(new Uint8Array(8)), undefined)
  other.exec('ROLLBACK')
  t.equal(await waiting, 'created')
})

t.test('a full disk fails whole transactions, and the store recovers', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = openDatabase({ file, lockTimeout: 0 })
  t.teardown(() => db.close())
  const writer = new Writer(db)
  const changes = new GroupCommit({
    commit: async (batch: readonly WriteCall[]) => writer.commit(batch),
    sizeOf: measureCall,
  })
  const create = (id: number, name: string) =>
    changes.submit({ type: 'create', id: BigInt(id), name })
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.pragma(`max_page_count = ${pages + 4}`)

  t.equal(await create(0, 'acknowledged'), 'created')
  const long = 'x'.repeat(1000)
  for (let attempt = 0; attempt < 3; attempt++) {
    const batch = Array.from({ length: 100 }, (_, index) => create(index + 1, long))
    for (const result of await Promise.allSettled(batch)) {
      t.match(result, { status: 'rejected', reason: FULL })
    }
    t.same(idsIn(file), [0], 'no change was made partially')
  }
  t.equal(await create(0, 'acknowledged'), 'unchanged', 'a replay needs no space')
  t.equal(await create(1, 'short'), 'created', 'a small plant fits')

  db.pragma(`max_page_count = ${pages + 1000}`)
  const batch = Array.from({ length: 100 }, (_, index) => create(index + 2, long))
  t.same(new Set(await Promise.all(batch)), new Set(['created']))
  t.equal(idsIn(file).length, 102)
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok')
})

t.test('reads and changes of a file damaged while open fail', async (t) => {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const file = join(t.testdir(), 'plants.db')
  // Closed once, so that nothing is left in the WAL.
  openDatabase({ file, lockTimeout: 0 }).close()
  store = new SqliteStore({ file, lockTimeout: 1000 })
  writeFileSync(file, readFileSync(file).fill(0xff, 4096), { flag: 'r+' })
  await t.rejects(store.ping(), DAMAGED)
  await t.rejects(store.get(1n), DAMAGED)
  await t.rejects(store.list({ limit: 1, tag: 'x' }), DAMAGED)
  await t.rejects(exported(store), DAMAGED)
  await t.rejects(new TokenStore(store).find(new Uint8Array(8)), DAMAGED)
  await t.rejects(store.ping(), REFUSED)
  await t.rejects(createIn(store, { id: 1n, name: 'x' }), REFUSED)
  await t.rejects(updateIn(store, 1n, { name: 'x' }), REFUSED)
  await t.rejects(removeFrom(store, 1n), REFUSED)
  await t.rejects(importPlants(store, [{ id: 1n, name: 'x' }], 'keep'), REFUSED)
  await t.rejects(new TokenStore(store).add(CI), REFUSED)
})

for (const sameThread of [false, true]) {
  const where = sameThread ? 'on this thread' : "in the writer's thread"
  t.test(`damage that a change ${where} finds is remembered`, async (t) => {
    let store: SqliteStore | undefined
    t.teardown(() => store?.close())
    const file = join(t.testdir(), 'plants.db')
    openDatabase({ file, lockTimeout: 0 }).close()
    store = new SqliteStore({ file, lockTimeout: 1000, sameThread })
    writeFileSync(file, readFileSync(file).fill(0xff, 4096), { flag: 'r+' })
    await t.rejects(createIn(store, { id: 1n, name: 'x' }), DAMAGED)
    await t.rejects(createIn(store, { id: 2n, name: 'x' }), REFUSED)
    await t.rejects(store.ping(), REFUSED)
  })
}

function idsIn(file: string): unknown[] {
  const db = new Sqlite(file, { readonly: true })
  try {
    return db.prepare('SELECT id FROM plants ORDER BY id').pluck().all()
  } finally {
    db.close()
  }
}
