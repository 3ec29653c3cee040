import pg from 'pg'
import t, { type Test } from 'tap'
import { keyRanges } from '../../../service/store/sort-index.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { each } from '../../helpers/plants/lists.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { complete, declare, NAME, walk } from '../suites/reads/sort-suite.ts'

const { migratedDatabase } = await sharedPostgres()

const REQUEST = { isDescending: false, ranges: keyRanges(NAME, {}, false), limit: 1000 }

/** A store with plants whose order is that of their ids, and another program in a transaction. */
async function start(t: Test, begin: string) {
  const url = await migratedDatabase()
  const open = () => PostgresStore.open({ url, timeout: 60_000 })
  const store = await open()
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.teardown(() => Promise.all([store.close(), other.end()]))
  const plants = (from: number) =>
    Array.from({ length: 900 }, (_, at) => ({ id: BigInt(from + at), name: `p${from + at}` }))
  for (const from of [1000, 2000, 3000]) await store.apply(each('put', plants(from)), 'each')
  await other.query(begin)
  const index = await declare(store, NAME, 1)
  const list = () => walk(store, { ...REQUEST, member: index.member })
  return { store, open, other, list }
}

const PLANT =
  "INSERT INTO plants (id, name) VALUES (1950, 'p1950'), (500, 'p0500'), (5000, 'p5000')"

function assertOrder(t: Test, ids: readonly bigint[]) {
  t.equal(ids.length, 2703)
  t.strictSame(
    ids,
    ids.toSorted((one, other) => (one < other ? -1 : 1)),
  )
}

t.test('an index begins after transactions that have changed plants without marks', async (t) => {
  const { store, other, list } = await start(t, `BEGIN; ${PLANT}`)
  const busy = {
    name: 'StoreUnavailable',
    detail: 'an index cannot begin or end while another transaction is changing plants',
  }
  await t.rejects(store.indexPlants(), busy)
  // Changes do not wait for the transaction either.
  t.equal(await store.change({ type: 'create', id: 1n, name: 'a' }), 'created')
  t.equal(await store.change({ type: 'remove', id: 1n }), 'removed')
  await t.rejects(store.indexPlants(), busy)
  await other.query('COMMIT')
  await complete(store)
  assertOrder(t, await list())
})

t.test('a transaction with an older snapshot marks plants that an index has passed', async (t) => {
  const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM plant_store_records'
  const { store, other, list } = await start(t, begin)
  for (let parts = 0; parts < 2; parts++) await store.indexPlants()
  await other.query(PLANT)
  await complete(store)
  await other.query('COMMIT')
  assertOrder(t, await list())
  await complete(store)
  assertOrder(t, await list())
})

t.test('processes that build an index at once store each key once', async (t) => {
  const { store, open, other, list } = await start(t, 'SELECT 1')
  const others = [await open(), await open()]
  t.teardown(() => Promise.all(others.map((each) => each.close())))
  const building = [store, ...others].map(complete)
  await other.query(PLANT)
  await Promise.all(building)
  await Promise.all([store, ...others].map(complete))
  assertOrder(t, await list())
  const counts = await other.query(
    'SELECT count(*), (SELECT count(*) FROM plants_without_keys) AS marks FROM plant_sort_keys',
  )
  t.strictSame(counts.rows, [{ count: '2703', marks: '0' }])
})

t.test('a TRUNCATE beside changes to keys is not a deadlock', async (t) => {
  const { store, other, list } = await start(t, 'SELECT 1')
  await complete(store)
  for (let round = 0; round < 30; round++) {
    await other.query(
      `INSERT INTO plants (id, name) SELECT n, 'x' FROM generate_series(1, 400) AS n ON CONFLICT DO NOTHING`,
    )
    await Promise.all([complete(store), other.query('TRUNCATE plants')])
  }
  t.strictSame(await list(), [])
})
