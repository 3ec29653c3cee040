/** A store whose owner is another thread. Here, both ends of the connection are in one thread. */
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { SELECTOR_BYTES, type StoredToken } from '../../service/token-store.ts'
import { joinStore } from '../../src/stores/engines.ts'
import { shareCalls } from '../../src/stores/remote-store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { contentOf, pageOf } from './changes.ts'
import { plantsIn } from './plants.ts'

/** A store, and another that calls it. */
async function connect(t: Test) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  const options = { database: 'postgres://server/plants', lockTimeout: 0 }
  const remote = await joinStore(options, shareCalls(store).data)
  t.teardown(async () => {
    await remote.close()
    await store.close()
  })
  return { store, remote }
}

const TOKEN: StoredToken = {
  name: 'ci',
  digest: new Uint8Array(32).fill(7),
  scopes: ['read'],
  createdAt: new Date(1),
}

t.test('calls about plants have the same results', async (t) => {
  const { store, remote } = await connect(t)
  const plant = { id: -(2n ** 63n), name: 'Abies', tag: 'Tree' }
  await remote.ping()
  t.equal(await remote.create(plant), 'created')
  t.equal(await remote.create({ ...plant, name: 'Acer' }), 'conflict')
  t.strictSame(await remote.createAll([plant, { id: 1n, name: 'Acer' }]), {
    created: 1,
    replayed: 1,
  })
  t.equal(await remote.remove(1n), 'removed')
  t.strictSame(await remote.get(plant.id), plant)
  t.equal(await remote.get(0n), undefined)
  t.strictSame(plantsIn(await remote.list({ limit: 10 })), [plant])
  t.equal(await remote.update(plant.id, { tag: null }, ['another version']), 'changed')
  t.strictSame(await remote.update(plant.id, { tag: null }), { id: plant.id, name: 'Abies' })
  t.equal(await remote.remove(0n), 'not-found')
  t.equal(await remote.remove(plant.id), 'removed')
  t.equal(await store.get(plant.id), undefined)
})

t.test('calls about changes have the same results', async (t) => {
  const { store, remote } = await connect(t)
  const { next: start } = await pageOf(remote, 'latest')
  const committed = remote.nextCommit()
  await remote.create({ id: 1n, name: 'Abies' })
  await committed
  const page = await pageOf(remote, start)
  t.strictSame(page.changes.map(contentOf), [['created', 1n, { name: 'Abies' }]])
  t.strictSame(await pageOf(store, start), page)
  t.equal(await remote.readChanges({ after: 'x', limit: 1 }), 'malformed')
})

t.test('calls about tokens have the same results', async (t) => {
  const { remote } = await connect(t)
  t.equal(await remote.addFirstToken(TOKEN), true)
  t.equal(await remote.addToken(TOKEN), false)
  await remote.noteTokenUse('ci', new Date(60_000))
  const stored = { ...TOKEN, lastUsedAt: new Date(60_000) }
  t.match(await remote.listTokens(), [stored])
  t.match(await remote.findToken(TOKEN.digest.subarray(0, SELECTOR_BYTES)), stored)
  t.equal(await remote.removeToken('ci'), true)
})

t.test('an unavailable store is unavailable to other threads', async (t) => {
  const { store, remote } = await connect(t)
  store.get = async () => {
    throw new StoreUnavailable('busy', 'SQLITE_BUSY')
  }
  await t.rejects(remote.get(1n), new StoreUnavailable('busy', 'SQLITE_BUSY'))
})

t.test('closing waits for the calls in flight, and leaves the store open', async (t) => {
  const { store, remote } = await connect(t)
  const created = remote.create({ id: 1n, name: 'Abies' })
  await Promise.all([remote.close(), remote.close()])
  t.equal(await created, 'created')
  t.ok(await store.get(1n))
})

t.test('closing ends the waits for a commit', async (t) => {
  const { store, remote } = await connect(t)
  const never = t.intercept(store, 'nextCommit', { value: () => new Promise(() => {}) })
  const waits = [remote.nextCommit(), remote.nextCommit()]
  await remote.ping()
  await remote.close()
  await Promise.all(waits)
  t.equal(never().length, 2)
})
