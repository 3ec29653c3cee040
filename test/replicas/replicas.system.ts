/** Several replicas of the service on one PostgreSQL server. `npm run test:replicas` contests many more creates. */

import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { AccessTokens } from '../../service/access-tokens.ts'
import type { NewPlant, StoredPlant } from '../../service/plant-store.ts'
import { findEngine, openStore } from '../../src/stores/engines.ts'
import { type PlantRow, toPlant } from '../../src/stores/shared/rows.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { startPostgres } from '../../tools/postgres/server.ts'
import { createAll } from '../helpers/lists.ts'
import { batchRequest, creationRequest } from '../load/changes.ts'
import { TOKEN } from '../load/requests.ts'
import { replay } from '../stores/changes.ts'
import { byId, count } from '../stores/plants.ts'
import { Follower } from '../stores/postgres/follower.ts'
import { Client, forEachLimited } from './client.ts'
import { Contest } from './contest.ts'
import { Counters } from './counters.ts'
import { startAtOnce, startReplica } from './startup.ts'

/** Number of contested ids. */
const contested = Number(process.argv[2] ?? 100)

/** Number of replicas. */
const REPLICAS = 4

/** Number of concurrent requests. */
const CONCURRENCY = 64

/** How far apart the creates of one id can be, so that replicas get the ids in different orders. */
const DISTANCE_MAX = 96

/** Limit for the rejection of a revoked token, in milliseconds. */
const REJECTION_MS_MAX = 5000

const NAME = 'plants'

const LIST = { method: 'GET', path: '/plants' } as const

const { server } = await startPostgres(t)
const database = await server.database(NAME)
const client = new Client(TOKEN)
t.teardown(() => client.close())
const replicas = await startAtOnce(t, REPLICAS, database, TOKEN)
const followers = await Promise.all([1, 2, 3].map(() => Follower.start(database, 5000)))

t.test('replicas that start at once on an empty database create one complete schema', async (t) => {
  const results = findEngine(database).check({ database, lockTimeout: 5000 })
  for await (const { subject, status, message } of results) {
    t.equal(status, 'ok', `${subject}: ${message}`)
  }
  for (const url of replicas) {
    t.match(await client.send(url, LIST), { status: 200, body: '[]' })
  }
})

t.test(
  'one of the contested creates wins, and every other is a replay or a conflict',
  async (t) => {
    const contests = Array.from({ length: contested }, () => new Contest(REPLICAS))
    const attempts = shuffle(
      contests.flatMap((contest) => contest.attempts.map((attempt) => ({ contest, attempt }))),
    )
    const begin = performance.now()
    await forEachLimited(CONCURRENCY, attempts, async ({ contest, attempt }) => {
      contest.sent(attempt)
      const { replica, plant } = attempt
      const call = randomInt(2) === 0 ? creationRequest(plant) : batchRequest([plant])
      const { status } = await client.send(replicas[replica] as string, call)
      contest.answered(attempt, status)
    })
    const seconds = Math.round((performance.now() - begin) / 100) / 10
    const stored = await storedPlants()
    t.same(
      contests.flatMap((contest) => contest.faults(stored.get(contest.id) ?? [])),
      [],
    )
    t.equal(stored.size, contests.length)
    const close = contests.filter(({ isClose }) => isClose).length
    t.ok(close > contests.length / 2, 'most ids were contested')
    const [acknowledged = 0, conflicts] = [200, 409].map((status) =>
      contests.reduce((sum, contest) => sum + contest.count(status), 0),
    )
    const replays = acknowledged - stored.size
    t.comment({
      creates: attempts.length,
      winners: stored.size,
      replays,
      conflicts,
      close,
      seconds,
    })
  },
)

t.test('the test detects a contest without exactly one winner', async (t) => {
  const acknowledged =
    (...tags: string[]) =>
    ({ tag }: NewPlant) =>
      tag !== undefined && tags.includes(tag) ? 200 : 409
  const right = acknowledged('')
  const cases = [
    { name: 'one winner', stored: 1, statusOf: right, faults: 0 },
    { name: 'nothing is stored', stored: 0, statusOf: right, faults: 1 },
    { name: 'two are stored', stored: 2, statusOf: right, faults: 1 },
    { name: 'two are acknowledged', stored: 1, statusOf: acknowledged('', 'Tree'), faults: 3 },
    { name: 'none is acknowledged', stored: 1, statusOf: acknowledged(), faults: 3 },
    { name: 'they fail', stored: 1, statusOf: () => 503, faults: 12 },
  ]
  for (const { name, stored, statusOf, faults } of cases) {
    const contest = new Contest(REPLICAS)
    for (const attempt of contest.attempts) contest.answered(attempt, statusOf(attempt.plant))
    const winner = contest.attempts.find(({ plant }) => plant.tag === '')?.plant as NewPlant
    t.equal(contest.faults(Array(stored).fill(winner)).length, faults, name)
  }
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

t.test('replicas that create and remove the same plant agree on whether it exists', async (t) => {
  const id = 7n
  const stores = await Promise.all([open(t), open(t), open(t)])
  const client = async (store: Store, number: number) => {
    const plant = { id, name: `of client ${number}` }
    const other = stores[(number + 1) % stores.length] as Store
    for (let created = 0; created < 50; ) {
      const result = await store.create(plant)
      if (result === 'conflict') continue
      created += 1
      const found = [result, await other.get(id), await store.remove(id)]
      t.same(found, ['created', plant, 'removed'])
    }
  }
  await Promise.all(stores.map(client))
})

t.test('no increment through any replica is lost', async (t) => {
  const [ids, increments] = [[1, 2, 3], contested / 2]
  const counters = new Counters(client, replicas)
  for (const id of ids) await counters.make(id)
  const all = Array.from({ length: increments }, () => ids).flat()
  await forEachLimited(4 * ids.length, all, (id) => counters.increment(id))
  for (const id of ids) {
    t.equal((await counters.read(id)).number, increments)
    const numbers = counters.acknowledged(id)
    t.equal(numbers.length, increments)
    numbers.sort((one, other) => one - other)
    t.same(
      numbers,
      numbers.map((_, index) => index + 1),
      'each number was acknowledged once',
    )
  }
  t.ok(counters.refused > 0, 'some increments were retried')
  t.comment({ increments: all.length, refused: counters.refused })
})

t.test('all followers have seen the same changes, which yield the stored plants', async (t) => {
  await Promise.all(followers.map((follower) => follower.end()))
  const [changes, ...others] = followers.map((follower) => follower.changes)
  for (const other of others) t.ok(isDeepStrictEqual(other, changes))
  const stored = byId([...(await storedPlants()).values()].flat())
  t.ok(isDeepStrictEqual(replay(changes ?? []), stored))
  t.comment({ changes: changes?.length, plants: stored.length })
})

t.test('all replicas accept a token once it is created, and none once it is revoked', async (t) => {
  const tokens = new AccessTokens(await open(t))
  const token = (await tokens.issue({ name: 'gone', scopes: ['read'] })) as string
  const holder = new Client(token)
  t.teardown(() => holder.close())
  const ask = async (url: string) =>
    (await holder.send(url, { method: 'GET', path: '/plants?limit=1' })).status
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
  t.equal((await client.send(replicas[0] as string, LIST)).status, 200, 'the others keep serving')
})

async function open(t: Test): Promise<Store> {
  const store = await openStore({ database, lockTimeout: 5000 })
  t.teardown(() => store.close())
  return store
}

/** Shuffles items, each by fewer than DISTANCE_MAX places. */
function shuffle<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item, index) => ({ item, place: index + randomInt(DISTANCE_MAX) }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item)
}

/** All stored plants by id. */
async function storedPlants(): Promise<Map<bigint, StoredPlant[]>> {
  const rows = await server.query<PlantRow>('SELECT id::text AS id, name, tag FROM plants', NAME)
  const plants = rows.map((row) => toPlant({ ...row, id: BigInt(row.id) }))
  return Map.groupBy(plants, ({ id }) => id)
}
