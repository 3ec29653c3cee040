/** Several replicas of the service on one PostgreSQL server: their schema, locks and tokens. */
import t, { type Test } from 'tap'
import { AccessTokens } from '../../service/access-tokens.ts'
import { findEngine, openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { startPostgres } from '../../tools/postgres/server.ts'
import { createAll } from '../helpers/lists.ts'
import { count } from '../stores/plants.ts'
import { startAtOnce, startReplica } from './startup.ts'

/** Number of replicas. */
const REPLICAS = 4

/** Limit for the rejection of a revoked token, in milliseconds. */
const REJECTION_MS_MAX = 5000

const NAME = 'plants'

const TOKEN = 'a-token-for-the-test'

const { server } = await startPostgres(t)
const database = await server.database(NAME)
const replicas = await startAtOnce(t, REPLICAS, database, TOKEN)

t.test('replicas that start at once on an empty database create one complete schema', async (t) => {
  const results = findEngine(database).check({ database, lockTimeout: 5000 })
  for await (const { subject, status, message } of results) {
    t.equal(status, 'ok', `${subject}: ${message}`)
  }
  for (const url of replicas) t.equal(await statusOf(url), 200)
})

t.test('replicas that create the same plants in different orders do not deadlock', async (t) => {
  const stores = await Promise.all([open(t), open(t)])
  for (let round = 0; round < 10; round++) {
    const ids = Array.from({ length: 500 }, (_, index) => BigInt(-round * 500 - index))
    const orders = [ids, ids.toReversed()]
    const creates = stores.flatMap((store, index) =>
      (orders[index] ?? []).map((id) => store.create({ id, name: 'Tilia' })),
    )
    const results = await Promise.all(creates)
    t.equal(results.filter((result) => result === 'created').length, ids.length)
  }
  for (let round = 0; round < 10; round++) {
    const ids = Array.from({ length: 500 }, (_, index) => BigInt(10_000 + round * 500 + index))
    const orders = [ids, ids.toReversed()]
    const batches = stores.flatMap((store, index) =>
      [0, 100, 200, 300, 400].map((start) =>
        createAll(
          store,
          (orders[index] ?? []).slice(start, start + 100).map((id) => ({ id, name: 'Tilia' })),
        ),
      ),
    )
    const results = await Promise.all(batches)
    t.equal(count(results.flat(), 'created'), ids.length)
  }
  const statistics = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
  t.same(await server.query(statistics, NAME), [{ deadlocks: '0' }])
})

t.test('all replicas accept a token once it is created, and none once it is revoked', async (t) => {
  const tokens = new AccessTokens(await open(t))
  const token = (await tokens.issue({ name: 'gone', scopes: ['read'] })) as string
  const ask = (url: string) => statusOf(url, token)
  t.same(
    await Promise.all(replicas.map(ask)),
    replicas.map(() => 200),
  )

  const begin = performance.now()
  const refusals = replicas.map(async (url) => {
    while (performance.now() - begin < REJECTION_MS_MAX) {
      if ((await ask(url)) === 401) return Math.round(performance.now() - begin)
    }
    return Number.POSITIVE_INFINITY
  })
  await tokens.revoke('gone')
  const revoked = Math.round(performance.now() - begin)
  const took = await Promise.all(refusals)
  t.ok(Math.max(...took) <= REJECTION_MS_MAX, 'each replica rejects it in time')
  t.same(await Promise.all(replicas.map(ask)), [401, 401, 401, 401])
  t.comment({ 'revoked after (ms)': revoked, 'refused after (ms)': took })
})

t.test('a replica that is older than the schema does not start', async (t) => {
  await server.query('INSERT INTO plant_store_schema VALUES (1000)', NAME)
  const older = startReplica(t, database, TOKEN)
  await t.rejects(older.listening(), {
    message: /: plant-store: cannot use .*: its schema has version 1000, .* upgrade plant-store\n$/,
  })
  t.equal(older.process.exitCode, 1)
  t.equal(await statusOf(replicas[0] as string), 200, 'the others keep serving')
})

async function open(t: Test): Promise<Store> {
  const store = await openStore({ database, lockTimeout: 5000 })
  t.teardown(() => store.close())
  return store
}

/** The status of a list. */
async function statusOf(url: string, token = TOKEN): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/plants?limit=1`, { headers })
  await response.body?.cancel()
  return response.status
}
