/** What a store on a PostgreSQL server measures about itself. */

import t, { type Test } from 'tap'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { figuresSuite, plant, valueIn, WAITING } from '../figures.ts'

const { migratedDatabase } = await sharedPostgres()

async function open(t: Test, isMeasured: boolean): Promise<PostgresStore> {
  const url = await migratedDatabase()
  const store = await PostgresStore.open({ url, timeout: 30_000, isMeasured })
  t.teardown(() => store.close())
  return store
}

t.test('each transaction that makes changes is measured', async (t) => {
  const store = await open(t, true)
  const start = performance.now()
  await Promise.all([1, 2, 3].map((id) => createIn(store, plant(id))))
  await createAll(store, [3, 4, 5, 6].map(plant))
  await updateIn(store, 1n, { tag: 'Tree' })
  await removeFrom(store, 2n)
  await store.get(1n)
  const elapsed = (performance.now() - start) / 1000
  const metrics = await store.metrics()
  t.equal(valueIn(metrics, 'plant_store_commit_duration_seconds_count'), 4)
  const sum = Number(valueIn(metrics, 'plant_store_commit_duration_seconds_sum'))
  t.ok(sum > 0 && sum < elapsed)
  t.equal(valueIn(metrics, 'plant_store_commit_changes_count'), 4)
  t.equal(valueIn(metrics, 'plant_store_commit_changes_sum'), 9)
  t.equal(valueIn(metrics, WAITING), 0)
  t.equal(valueIn(metrics, 'plant_store_fsync_duration_seconds_count'), undefined)
})

t.test('connections are idle or used, and others wait for one', async (t) => {
  const store = await open(t, true)
  const connections = async () => {
    const metrics = await store.metrics()
    const gauges = metrics.filter(({ name }) => name.startsWith('db_client_'))
    const [states, max, pending] = gauges.map(({ values }) => values.map(({ value }) => value))
    return { idle: states?.[0], used: states?.[1], max: max?.[0], pending: pending?.[0] }
  }
  const exports = Array.from({ length: 12 }, () => store.exportPlants()[Symbol.asyncIterator]())
  await createAll(store, [1, 2].map(plant))
  const [first, ...others] = exports
  await first?.next()
  const { idle = 0, used, max, pending } = await connections()
  t.same({ used, max, pending }, { used: 1, max: 10, pending: 0 })
  t.ok(idle <= 1)
  const begun = others.map((each) => each.next())
  await Promise.all(begun.slice(0, 9))
  t.match(await connections(), { idle: 0, used: 10, pending: 2 })
  for (const each of [...exports]) await each.return?.()
  await Promise.all(begun)
  for (const each of [...exports]) await each.return?.()
  t.match(await connections(), { used: 0, pending: 0 })
})

figuresSuite(t, open)
