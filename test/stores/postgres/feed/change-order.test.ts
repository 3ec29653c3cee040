/** The order of changes by overlapping transactions. */

import pg from 'pg'
import t, { type Test } from 'tap'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { createAll } from '../../../helpers/plants/lists.ts'
import { createIn, removeFrom } from '../../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../../helpers/service/shared-postgres.ts'
import { changesAfter, contentOf, latest, replay } from '../../feed-reads.ts'
import { exported } from '../../plants.ts'
import { countWaiting, nameOf } from '../sessions.ts'

const { server, migratedDatabase } = await sharedPostgres()

/** A store with two plants, and clients that change them with SQL. */
async function setUp(t: Test, clients: number) {
  const url = await migratedDatabase()
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  t.teardown(() => store.close())
  await createAll(
    store,
    [1n, 2n].map((id) => ({ id, name: 'new' })),
  )
  const connect = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const others = await Promise.all(Array.from({ length: clients }, connect))
  const isBlocked = async () => (await countWaiting(server, nameOf(url))) > 0
  return { store, others: others as [pg.Client, pg.Client, pg.Client], isBlocked }
}

/** Begins a transaction and gives it an id, before it changes anything. */
const BEGIN = 'BEGIN; SELECT pg_current_xact_id()'

const rename = (id: bigint, name: string) => `UPDATE plants SET name = '${name}' WHERE id = ${id}`

t.test('two updates whose ids and commits are in opposite order, read between them', async (t) => {
  const { store, others, isBlocked } = await setUp(t, 2)
  const [older, younger] = others
  const start = await latest(store)
  await older.query(BEGIN)
  await older.query(rename(2n, 'long before'))
  await younger.query(BEGIN)
  await younger.query(rename(1n, 'first'))
  const second = older.query(rename(1n, 'second'))
  while (!(await isBlocked()));
  await younger.query('COMMIT')
  await second
  const [first, ...none] = await changesAfter(store, start)
  t.same(first && contentOf(first), ['changed', 1n, { name: 'first' }])
  t.same(none, [])
  await older.query('COMMIT')
  t.same((await changesAfter(store, first?.cursor)).map(contentOf), [
    ['changed', 2n, { name: 'long before' }],
    ['changed', 1n, { name: 'second' }],
  ])
})

t.test('a transaction that stays open delays only its own changes', async (t) => {
  const { store, others } = await setUp(t, 2)
  const [open, later] = others
  const start = await latest(store)
  await open.query(BEGIN)
  await open.query(rename(1n, 'open'))
  await later.query(BEGIN)
  await later.query(rename(2n, 'later'))
  await createIn(store, { id: 3n, name: 'meanwhile' })
  const meanwhile = await changesAfter(store, start)
  t.same(meanwhile.map(contentOf), [['created', 3n, { name: 'meanwhile' }]])
  await later.query('COMMIT')
  await removeFrom(store, 3n)
  const cursor = meanwhile.at(-1)?.cursor
  const next = await changesAfter(store, cursor)
  t.same(next.map(contentOf), [
    ['changed', 2n, { name: 'later' }],
    ['removed', 3n],
  ])
  const committed = store.nextCommit()
  await open.query('COMMIT')
  await committed
  t.same((await changesAfter(store, next.at(-1)?.cursor)).map(contentOf), [
    ['changed', 1n, { name: 'open' }],
  ])
  t.same(replay(await changesAfter(store)), await exported(store))
})

t.test('a transaction that is rolled back has no changes', async (t) => {
  const { store, others } = await setUp(t, 1)
  const [client] = others
  const start = await latest(store)
  await client.query(BEGIN)
  await client.query(rename(1n, 'undone'))
  await client.query('SAVEPOINT here')
  await client.query('ROLLBACK')
  await client.query(BEGIN)
  await client.query(rename(1n, 'kept'))
  await client.query('SAVEPOINT here')
  await client.query(rename(1n, 'undone'))
  await client.query('ROLLBACK TO here; COMMIT')
  t.same((await changesAfter(store, start)).map(contentOf), [['changed', 1n, { name: 'kept' }]])
})

t.test('changes by SQL that the store does not use', async (t) => {
  const { store, others } = await setUp(t, 1)
  const [client] = others
  const start = await latest(store)
  const statements = [
    'UPDATE plants SET id = id + 10, name = CASE id WHEN 2 THEN name ELSE id::text END',
    'UPDATE plants SET name = name',
    "INSERT INTO plants VALUES (11, 'upserted'), (4, 'inserted') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
    `MERGE INTO plants USING (VALUES (11), (5)) AS given (id) ON plants.id = given.id
     WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (given.id, 'merged')`,
    'BEGIN; TRUNCATE plants; ROLLBACK',
    'TRUNCATE plants',
    "INSERT INTO plants VALUES (1, 'last')",
  ]
  const before = await exported(store)
  for (const statement of statements) {
    await client.query(statement)
    t.same(replay(await changesAfter(store, start), before), await exported(store), statement)
  }
})
