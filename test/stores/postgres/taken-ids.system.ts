/** Ids that another transaction is taking. */

import pg from 'pg'
import t, { type Test } from 'tap'
import type { PlantChange } from '../../../service/store/plant-store.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { createAll, removals } from '../../helpers/plants/lists.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { exported } from '../plants.ts'
import { countWaiting, nameOf } from './sessions.ts'

const { server, emptyDatabase } = await sharedPostgres()

async function connected(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Makes a call while a transaction has inserted plant 2 and has not committed; resolves to the call's result. */
async function overlap<Result>(t: Test, call: (store: PostgresStore) => Promise<Result>) {
  const url = await emptyDatabase()
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  t.teardown(() => store.close())
  const other = await connected(t, url)
  await other.query(`BEGIN; INSERT INTO plants (id, name) VALUES (2, 'theirs')`)
  const called = call(store)
  const commitOnceItWaits = async () => {
    while ((await countWaiting(server, nameOf(url))) === 0);
    await other.query('COMMIT')
  }
  const [result] = await Promise.all([called, commitOnceItWaits()])
  return { result, stored: await exported(store) }
}

/** A store, a transaction that has updated plant 2, and has not committed, and a connection that can create others. */
async function whileUpdating(t: Test) {
  const url = await emptyDatabase()
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  t.teardown(() => store.close())
  const [updating, creating] = await Promise.all([connected(t, url), connected(t, url)])
  await updating.query(`INSERT INTO plants (id, name) VALUES (2, 'ours')`)
  await updating.query(`BEGIN; UPDATE plants SET name = 'theirs' WHERE id = 2`)
  return { url, store, updating, creating }
}

const theirs = { id: 2n, name: 'theirs' }

t.test('a create of a taken id is a conflict', async (t) => {
  const { result, stored } = await overlap(t, (store) => createIn(store, { id: 2n, name: 'ours' }))
  t.equal(result, 'plant-exists')
  t.strictSame(stored, [theirs])
})

t.test('a batch with a taken id is a conflict, and changes nothing', async (t) => {
  const plants = [1n, 2n].map((id) => ({ id, name: 'ours' }))
  const { result, stored } = await overlap(t, (store) => createAll(store, plants))
  t.strictSame(result, ['created', 'plant-exists'])
  t.strictSame(stored, [theirs])
})

t.test('a batch with the plant that took its id creates the others', async (t) => {
  const plants = [{ id: 1n, name: 'ours' }, theirs]
  const { result, stored } = await overlap(t, (store) => createAll(store, plants))
  t.strictSame(result, ['created', 'unchanged'])
  t.strictSame(stored, plants)
})

t.test('of two conflicts that arise while a batch waits, it names the first', async (t) => {
  const { url, store, updating, creating } = await whileUpdating(t)
  const called = createAll(
    store,
    [1n, 2n].map((id) => ({ id, name: 'ours' })),
  )
  while ((await countWaiting(server, nameOf(url))) === 0);
  await creating.query(`INSERT INTO plants (id, name) VALUES (1, 'theirs')`)
  await updating.query('COMMIT')
  t.strictSame(await called, ['plant-exists', 'plant-exists'])
})

t.test('a list that waits finds a plant that was created meanwhile', async (t) => {
  const { url, store, updating, creating } = await whileUpdating(t)
  const changes: PlantChange[] = [
    { type: 'remove', id: 1n },
    { type: 'update', id: 2n, patch: { tag: 'x' } },
  ]
  const called = store.apply(changes, 'all-or-none')
  while ((await countWaiting(server, nameOf(url))) === 0);
  await creating.query(`INSERT INTO plants (id, name) VALUES (1, 'theirs')`)
  await updating.query('COMMIT')
  t.strictSame(await called, ['removed', 'changed'])
  t.strictSame(await exported(store), [{ id: 2n, name: 'theirs', tag: 'x' }])
})

t.test('a list does not deadlock over a plant that was created meanwhile', async (t) => {
  const { url, store, updating, creating } = await whileUpdating(t)
  const called = store.apply(removals([1n, 2n]), 'all-or-none')
  while ((await countWaiting(server, nameOf(url))) < 1);
  await creating.query(`INSERT INTO plants (id, name) VALUES (1, 'theirs')`)
  await creating.query('BEGIN; SELECT id FROM plants WHERE id = 1 FOR UPDATE')
  const locked = creating.query('SELECT id FROM plants WHERE id = 2 FOR UPDATE')
  while ((await countWaiting(server, nameOf(url))) < 2);
  await updating.query('COMMIT')
  t.equal((await locked).rowCount, 1, 'the server did not end a deadlock')
  await creating.query('COMMIT')
  t.strictSame(await called, ['removed', 'removed'])
})

t.test(
  'a list that creates and removes a plant finds one that was created meanwhile',
  async (t) => {
    const url = await emptyDatabase()
    const store = await PostgresStore.open({ url, timeout: 60_000 })
    t.teardown(() => store.close())
    const [updating, creating] = await Promise.all([connected(t, url), connected(t, url)])
    await updating.query(`INSERT INTO plants (id, name) VALUES (2, 'ours')`)
    await updating.query(`BEGIN; UPDATE plants SET name = 'theirs' WHERE id = 2`)
    const changes: PlantChange[] = [{ type: 'create', id: 1n, name: 'ours' }, ...removals([1n, 2n])]
    const called = store.apply(changes, 'each')
    while ((await countWaiting(server, nameOf(url))) === 0);
    await creating.query(`INSERT INTO plants (id, name) VALUES (1, 'theirs')`)
    await updating.query('COMMIT')
    t.strictSame(await called, ['plant-exists', 'removed', 'removed'])
  },
)
