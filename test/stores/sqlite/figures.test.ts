/** What a store in a file or in memory measures about itself. */

import { rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import {
  prepareMeasurement,
  type SpaceFigures,
  SqliteMetrics,
} from '../../../src/stores/sqlite/writer/sqlite-metrics.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { figuresSuite, plant, valueIn, WAITING } from '../figures.ts'

const DURATION = 'plant_store_commit_duration_seconds'
const SYNC = 'plant_store_fsync_duration_seconds'

/** By default without a thread for the writer, which measures all but the disk. */
function open(t: Test, file: string, sameThread = file !== ':memory:'): SqliteStore {
  const metrics = new SqliteMetrics(file !== ':memory:')
  const store = new SqliteStore({ file, lockTimeout: 100, metrics, sameThread })
  t.teardown(() => store.close())
  return store
}

for (const where of ['file', 'memory']) {
  t.test(`each commit is measured with its changes, in a ${where}`, async (t) => {
    const file = where === 'memory' ? ':memory:' : join(makeFolder(t, inMemory()), 'plants.db')
    const store = open(t, file)
    const start = performance.now()
    await Promise.all([1, 2, 3].map((id) => createIn(store, plant(id))))
    await createAll(store, [3, 4, 5, 6].map(plant))
    const elapsed = (performance.now() - start) / 1000
    const metrics = await store.metrics()
    t.equal(valueIn(metrics, `${DURATION}_count`), 2)
    const sum = Number(valueIn(metrics, `${DURATION}_sum`))
    t.ok(sum > 0 && sum < elapsed)
    t.equal(valueIn(metrics, 'plant_store_commit_changes_count'), 2)
    t.equal(valueIn(metrics, 'plant_store_commit_changes_sum'), 7)
    t.equal(valueIn(metrics, WAITING), 0)
  })
}

figuresSuite(t, async (t, isMeasured) => {
  const file = join(makeFolder(t, inMemory()), 'plants.db')
  const store = new SqliteStore({
    file,
    lockTimeout: 100,
    ...(isMeasured && { metrics: new SqliteMetrics() }),
  })
  t.teardown(() => store.close())
  return store
})

t.test('the wait for the disk is part of each commit', async (t) => {
  const store = open(t, join(makeFolder(t, inMemory()), 'plants.db'), false)
  await createIn(store, plant(1))
  const metrics = await store.metrics()
  t.equal(valueIn(metrics, `${SYNC}_count`), 1)
  const sum = Number(valueIn(metrics, `${SYNC}_sum`))
  t.ok(sum > 0 && sum < Number(valueIn(metrics, `${DURATION}_sum`)))
  t.ok(Number(valueIn(metrics, 'plant_store_disk_free_bytes')) > 0)
})

t.test('a failed commit is not measured', async (t) => {
  const file = join(makeFolder(t, inMemory()), 'plants.db')
  const store = open(t, file)
  await createIn(store, plant(1))
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  await t.rejects(createIn(store, plant(2)), StoreUnavailable)
  t.equal(valueIn(await store.metrics(), `${DURATION}_count`), 1)
})

t.test('if the file system does not respond, only its sizes are missing', async (t) => {
  const metrics = new SqliteMetrics()
  let space: SpaceFigures | undefined = { wal: 0, database: 1, free: 2, total: 3 }
  metrics.measureSpace('plants.db', async () => space)
  t.equal(valueIn(await metrics.read(), 'plant_store_disk_free_bytes'), 2)
  space = undefined
  t.equal(valueIn(await metrics.read(), 'plant_store_disk_free_bytes'), undefined)
  t.equal(valueIn(await metrics.read(), `${SYNC}_count`), 0)
})

t.test('the space of a database includes its WAL, next to the target of a link', async (t) => {
  const folder = makeFolder(t, inMemory())
  const target = join(folder, 'target.db')
  const link = join(makeFolder(t, inMemory()), 'plants.db')
  const first = open(t, target)
  await createIn(first, plant(1))
  symlinkSync(target, link)
  const measure = prepareMeasurement(link)
  const space = await measure()
  t.equal(space?.database, statSync(target).size)
  t.equal(space?.wal, statSync(`${target}-wal`).size)
  t.ok(Number(space?.wal) > 0)
  t.ok(Number(space?.free) > 0 && Number(space?.free) <= Number(space?.total))
  await first.close()
  t.equal((await measure())?.wal, 0)
  rmSync(target)
  t.equal(await measure(), undefined)
})

t.test('a file system that does not respond is asked once', async (t) => {
  const space = Promise.withResolvers<SpaceFigures>()
  let count = 0
  const read = () => {
    count++
    return space.promise
  }
  const measure = prepareMeasurement('plants.db', read, 10)
  t.same(await Promise.all([measure(), measure()]), [undefined, undefined])
  t.equal(await measure(), undefined)
  t.equal(count, 1)
  const figures = { wal: 0, database: 0, free: 0, total: 0 }
  space.resolve(figures)
  t.equal(await measure(), figures)
})
