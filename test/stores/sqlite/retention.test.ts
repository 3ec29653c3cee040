import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { Retention } from '../../../src/stores/shared/engine.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { CHANGE_OVERHEAD_BYTES } from '../../../src/stores/sqlite/feed/change-triggers.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { Writer } from '../../../src/stores/sqlite/writer/writer.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { changesAfter, eventually, latest, pageOf } from '../feed-reads.ts'
import { scatteredIds } from '../plants.ts'

const lockTimeout = 5000
const FOREVER = 3_600_000
const UNLIMITED = 2 ** 40

const PLANTS = scatteredIds(3000).map((id) => ({ id, name: 'x'.repeat(100) }))

/** What a change to one of PLANTS adds to the feed. */
const CHANGE_BYTES = CHANGE_OVERHEAD_BYTES + 100

/** A closed database with a change for each of PLANTS. */
const original = join(t.testdir(), 'original.db')
const filler = new SqliteStore({ file: original, lockTimeout, sameThread: true })
const start = await latest(filler)
for (let first = 0; first < PLANTS.length; first += 1000) {
  await importPlants(filler, PLANTS.slice(first, first + 1000), 'stop')
}
const changes = await changesAfter(filler, start)
await filler.close()

/** A copy of that database. */
function makeDatabase(t: Test) {
  const stores: SqliteStore[] = []
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const file = join(t.testdir(), 'plants.db')
  copyFileSync(original, file)
  const open = (retention?: Retention, onProblem = (_problem: string) => {}) => {
    const store = new SqliteStore({ file, lockTimeout, onProblem, ...(retention && { retention }) })
    stores.push(store)
    return store
  }
  return { file, open }
}

/** The number of changes in the feed. Reading all pages could fail while the oldest are deleted. */
function countChanges(file: string): number {
  const db = new Sqlite(file, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM changes').pluck().get() as number
  } finally {
    db.close()
  }
}

/** Makes the changes twice as old as a retention of FOREVER permits. */
function makeOld(file: string): void {
  const db = new Sqlite(file)
  db.exec(`UPDATE changes SET at = at - ${2 * FOREVER}`)
  db.close()
}

/** Deletes what exceeds the limits, as a service that has watched its clock for long enough does. */
function prune(file: string): void {
  const db = openDatabase({ file, lockTimeout })
  const writer = new Writer(db)
  const limits = { before: Date.now() - FOREVER, bytes: UNLIMITED }
  while (writer.commit([{ type: 'pruneChanges', limits }])[0] === true);
  // As if another process had deleted them in the meantime.
  writer.commit([{ type: 'pruneChanges', limits }])
  writer.close()
}

t.test('changes that are too old are deleted', async (t) => {
  const { file, open } = makeDatabase(t)
  const service = open({ age: FOREVER, bytes: UNLIMITED })
  makeOld(file)
  const changes = await changesAfter(service)
  const last = changes.at(-1)
  prune(file)
  t.equal(countChanges(file), 1, 'the start of the feed')
  t.strictSame(await changesAfter(service), [])
  for (const after of [start, changes[0]?.cursor, changes.at(-2)?.cursor]) {
    t.equal(await service.readChanges({ after, limit: 1 }), 'expired')
  }
  t.strictSame(await changesAfter(service, last?.cursor), [])
  await createIn(service, { id: 0n, name: 'x' })
  t.match(await changesAfter(service, last?.cursor), [{ id: 0n }])
  t.same(
    [...checkDatabase({ file, lockTimeout })].filter(({ status }) => status === 'fault'),
    [],
  )
})

t.test('a cursor is valid as long as all changes after it are kept', async (t) => {
  const { file, open } = makeDatabase(t)
  const service = open({ age: FOREVER, bytes: UNLIMITED })
  makeOld(file)
  const [before, last] = (await changesAfter(service)).slice(-2)
  await createIn(service, { id: 0n, name: 'x' })
  prune(file)
  t.equal(countChanges(file), 2)
  await createIn(service, { id: 1n, name: 'x' })
  t.match(await changesAfter(service, last?.cursor), [{ id: 0n }, { id: 1n }])
  t.match(await changesAfter(service), [{ id: 0n }, { id: 1n }])
  t.equal(await service.readChanges({ after: before?.cursor, limit: 1 }), 'expired')
  makeOld(file)
  prune(file)
  t.strictSame(await changesAfter(service), [], 'none is kept without the cursor before it')
  t.equal(await service.readChanges({ after: last?.cursor, limit: 1 }), 'expired')
})

t.test('a clock that is set forward deletes nothing at once', async (t) => {
  const { open } = makeDatabase(t)
  const problem = Promise.withResolvers<string>()
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const service = open({ age: 2000, bytes: UNLIMITED }, problem.resolve)
  Date.now = () => now() + 10 * FOREVER
  t.match(await problem.promise, /^the clock went forward by 600 min/)
  t.strictSame(await changesAfter(service, start), changes)
})

t.test('the oldest changes are deleted when the feed is too large', async (t) => {
  const { file, open } = makeDatabase(t)
  const kept = 1000
  // The oldest of these are in a transaction with newer ones.
  const service = open({ age: FOREVER, bytes: (kept - 300) * CHANGE_BYTES })
  await eventually(service, () => countChanges(file) <= kept + 1)
  t.strictSame(await changesAfter(service), changes.slice(-kept))
  t.strictSame(await changesAfter(service, changes.at(-kept - 1)?.cursor), changes.slice(-kept))
  t.equal((await service.list({ limit: 1 })).next === undefined, false, 'plants are kept')
})

t.test('changes in memory are deleted too', async (t) => {
  const store = new SqliteStore({
    file: ':memory:',
    lockTimeout,
    retention: { age: 1, bytes: UNLIMITED },
  })
  t.teardown(() => store.close())
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  await createAll(store, PLANTS.slice(0, 1000))
  const { next } = await pageOf(store, undefined, 1)
  await eventually(store, async () => (await pageOf(store, undefined, 2)).changes.length === 0)
  t.equal(await store.readChanges({ after: next, limit: 1 }), 'expired')
})

t.test('a database that is locked meanwhile is tried again', async (t) => {
  const { file } = makeDatabase(t)
  const retention = { age: 1, bytes: UNLIMITED }
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const service = new SqliteStore({ file, lockTimeout: 0, retention })
  t.teardown(() => service.close())
  const error = await createIn(service, { id: 0n, name: 'x' }).catch((error) => error)
  t.match(error, { reason: 'busy' })
  t.strictSame(await changesAfter(service), changes)
  other.exec('COMMIT')
  await eventually(service, () => countChanges(file) === 1)
})
