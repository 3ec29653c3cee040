/** What a store in a file or in memory measures about itself. */
import { rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { prepareMeasurement } from '../../../src/stores/sqlite/file/file-space.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { SpaceFigures } from '../../../src/stores/store-figures.ts'
import { inMemory, makeFolder } from '../../../tools/temporary-folders.ts'
import { countOf } from '../figures.ts'

const plant = (id: number) => ({ id: BigInt(id), name: 'Abies alba Mill.' })

function open(t: Test, file: string, isMeasured = true): SqliteStore {
  const store = new SqliteStore({ file, lockTimeout: 100, isMeasured })
  t.teardown(() => store.close())
  return store
}

for (const where of ['file', 'memory']) {
  t.test(`each commit is measured with its changes, in a ${where}`, async (t) => {
    const file = where === 'memory' ? ':memory:' : join(makeFolder(t, inMemory()), 'plants.db')
    const store = open(t, file)
    const start = performance.now()
    await Promise.all([1, 2, 3].map((id) => store.create(plant(id))))
    await store.createAll([3, 4, 5, 6].map(plant))
    const elapsed = (performance.now() - start) / 1000
    const { commits, waitingChanges } = await store.figures()
    t.equal(countOf(commits.duration), 2)
    t.ok(commits.duration.sum > 0 && commits.duration.sum < elapsed)
    t.equal(countOf(commits.changes), 2)
    t.equal(commits.changes.sum, 7)
    t.equal(waitingChanges, 0)
  })
}

t.test('changes wait until they are durable', async (t) => {
  const store = open(t, join(makeFolder(t, inMemory()), 'plants.db'))
  const created = Promise.all([1, 2, 3].map((id) => store.create(plant(id))))
  t.equal((await store.figures()).waitingChanges, 3)
  await created
  t.equal((await store.figures()).waitingChanges, 0)
})

t.test('the wait for the disk is part of each commit', async (t) => {
  const store = open(t, join(makeFolder(t, inMemory()), 'plants.db'))
  await store.create(plant(1))
  const { commits, file } = await store.figures()
  const { sum = 0, counts = [] } = file?.sync ?? {}
  t.equal(countOf({ bounds: [], counts, sum }), 1)
  t.ok(sum > 0 && sum < commits.duration.sum)
})

t.test('a failed commit is not measured', async (t) => {
  const file = join(makeFolder(t, inMemory()), 'plants.db')
  const store = open(t, file)
  await store.create(plant(1))
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  await t.rejects(store.create(plant(2)), StoreUnavailable)
  t.equal(countOf((await store.figures()).commits.duration), 1)
})

t.test('a store that does not measure counts nothing', async (t) => {
  const store = open(t, join(makeFolder(t, inMemory()), 'plants.db'), false)
  await store.create(plant(1))
  const { commits, file } = await store.figures()
  t.equal(countOf(commits.duration), 0)
  t.ok(file?.space)
})

t.test('a store in memory has no file', async (t) => {
  t.equal((await open(t, ':memory:').figures()).file, undefined)
})

t.test('the space of a database includes its WAL, next to the target of a link', async (t) => {
  const folder = makeFolder(t, inMemory())
  const target = join(folder, 'target.db')
  const link = join(makeFolder(t, inMemory()), 'plants.db')
  const first = open(t, target)
  await first.create(plant(1))
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
