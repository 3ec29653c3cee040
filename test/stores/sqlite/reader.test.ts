import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { ROW_TEXT_MAX } from '../../../src/stores/shared/page-limits.ts'
import { damagedError } from '../../../src/stores/shared/store-error.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { JSON_OR_ID } from '../../../src/stores/sqlite/reads/plant-json.ts'
import { prepareSlices } from '../../../src/stores/sqlite/reads/plant-slices.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { updateIn } from '../../helpers/plants/single-changes.ts'
import { exported, samePlants } from '../plants.ts'

const PLANTS = Array.from({ length: 3000 }, (_, id) => ({ id: BigInt(id), name: 'x'.repeat(100) }))

/** A closed database with PLANTS. */
const original = join(t.testdir(), 'original.db')
const filler = new SqliteStore({ file: original, lockTimeout: 1000, sameThread: true })
await importPlants(filler, PLANTS, 'stop')
await filler.close()

t.test('an export holds its snapshot only until it ends', async (t) => {
  const { store, file } = storeWithPlants(t)
  const ends: Record<string, () => Promise<unknown>> = {
    'read to the end': () => exported(store),
    abandoned: async () => {
      for await (const _ of store.exportPlants()) break
    },
    'consumer failed': async () => {
      const parts = store.exportPlants()[Symbol.asyncIterator]()
      await parts.next()
      await parts.throw?.(new Error('thrown by the reader')).catch(() => {})
    },
  }
  for (const [what, end] of Object.entries(ends)) {
    const open = store.exportPlants()[Symbol.asyncIterator]()
    await open.next()
    await updateIn(store, 0n, { name: what })
    t.equal(canTruncateWal(file), false, 'an export is open')
    await open.return?.()
    await end()
    t.equal(canTruncateWal(file), true, what)
  }
  await store.close()
  t.same(readdirSync(join(file, '..')), ['plants.db'], 'no connection is left open')
})

t.test('other work has its turn between many expensive reads', async (t) => {
  const { store } = storeWithPlants(t)
  let done = 0
  const reads = Array.from({ length: 100 }, async () => {
    const page = await store.list({ limit: 1000 })
    done++
    return page
  })
  await setImmediate()
  t.ok(done > 0 && done < 100, `${done} of 100 reads are done after one turn of the event loop`)
  t.equal(new Set((await Promise.all(reads)).map(({ json }) => json)).size, 1)
})

t.test('others have their turn within a count', async (t) => {
  const { store } = storeWithPlants(t)
  const ended: string[] = []
  await Promise.all([
    store.count({}).then(({ found }) => ended.push(`count of ${found}`)),
    store.get(0n).then(() => ended.push('get')),
  ])
  t.strictSame(ended, ['get', `count of ${PLANTS.length}`])
})

t.test('a search measures a few plants at a time', (t) => {
  const { file } = storeWithPlants(t)
  const db = openDatabase({ file, lockTimeout: 0 })
  const slices = [...prepareSlices(db)(undefined, 499n)]
  db.close()
  t.strictSame(slices, [
    { from: 500n, to: 1499n, next: 1499n },
    { from: 1500n, to: 2499n, next: 2499n },
    { from: 2500n, to: 2999n, next: undefined },
  ])
  t.end()
})

t.test('closing the store rejects the reads that are waiting', async (t) => {
  const { store } = storeWithPlants(t)
  const read = t.rejects(store.get(0n), new StoreUnavailable('failing', 'it is closed'))
  await store.close()
  await read
})

t.test('a page does not contain large plants, whichever of their texts is large', async (t) => {
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, ?, ?)')
  const large = 'x'.repeat(ROW_TEXT_MAX + 1)
  for (const fields of [null, '"height":1']) {
    insert.run(1, large, null, fields)
    insert.run(2, '', large, fields)
    insert.run(3, '', '', `"note":"${large}"`)
    insert.run(4, '', large.slice(1), fields)
    const rows = db.prepare(`SELECT ${JSON_OR_ID} FROM plants ORDER BY id`).pluck().all()
    t.same(rows.slice(0, 3), [1n, 2n, 3n])
    t.type(rows[3], 'string')
    db.exec('DELETE FROM plants')
  }
})

t.test('an export of a damaged file fails and is released', async (t) => {
  const { store, file } = storeWithPlants(t)
  // Moves everything from the WAL into the file.
  t.equal(canTruncateWal(file), true)
  const parts = store.exportPlants()[Symbol.asyncIterator]()
  samePlants(t, (await parts.next()).value ?? [], PLANTS.slice(0, 1000))
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0xff, bytes.length / 2), { flag: 'r+' })
  const rest = async () => {
    for (let part = await parts.next(); !part.done; part = await parts.next());
  }
  await t.rejects(rest(), damagedError('SQLITE_CORRUPT'))
  t.strictSame(await parts.next(), { done: true, value: undefined })
  t.equal(canTruncateWal(file), true)
})

t.test('an export of a deleted file fails', async (t) => {
  const { store, file } = storeWithPlants(t)
  rmSync(file)
  const message = /^the store is failing: \S+ was deleted or replaced while it is open/
  await t.rejects(exported(store), { name: 'StoreUnavailable', message })
})

t.test('an export continues after the store is closed', async (t) => {
  const memory = new SqliteStore({ file: ':memory:', lockTimeout: 1000 })
  await importPlants(memory, PLANTS, 'stop')
  for (const { store } of [storeWithPlants(t), { store: memory }]) {
    const parts = store.exportPlants()[Symbol.asyncIterator]()
    const found = [...((await parts.next()).value ?? [])]
    await store.close()
    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      found.push(...part.value)
    }
    samePlants(t, found, PLANTS)
  }
})

function storeWithPlants(t: Test): { store: SqliteStore; file: string } {
  let store: SqliteStore | undefined
  t.teardown(() => store?.close())
  const file = join(t.testdir(), 'plants.db')
  copyFileSync(original, file)
  store = new SqliteStore({ file, lockTimeout: 1000, sameThread: true })
  return { store, file }
}

/** Whether the WAL can be emptied, which an open snapshot prevents. */
function canTruncateWal(file: string): boolean {
  const db = new Sqlite(file, { timeout: 0 })
  try {
    const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }]
    return busy === 0
  } finally {
    db.close()
  }
}
