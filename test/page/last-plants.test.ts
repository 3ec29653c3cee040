/** The search for the last plants of a list, which a service returns in ascending order only. */
import t from 'tap'
import { createClient, type PlantStoreClient } from '../../client/client.ts'
import type { Filter } from '../../page/list/filter.ts'
import { findLastPlants, LAST_ROWS, suggestId } from '../../page/list/last-plants.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { type Service, startService } from '../helpers/service.ts'

let service: Service
let client: PlantStoreClient
t.beforeEach(async (t) => {
  service = await startService(t)
  client = createClient(service)
})

/** @returns the ids found, how many requests it took, and in how many round trips */
async function search(filter: Filter = {}, before = async () => {}) {
  let requests = 0
  let roundTrips = 0
  let inFlight = 0
  const counting: Pick<PlantStoreClient, 'listPlants'> = {
    listPlants: async (query = {}, options) => {
      requests++
      if (inFlight++ === 0) roundTrips++
      await before()
      return client.listPlants(query, options).finally(() => inFlight--)
    },
  }
  const plants = await findLastPlants(counting, filter, new AbortController().signal)
  return { ids: plants.map(({ id }) => id), requests, roundTrips }
}

async function store(ids: Iterable<bigint>, name = 'Abies') {
  const plants = [...ids].map((id) => ({ id, name, ...(id % 2n === 0n && { tag: 'even' }) }))
  await importPlants(service.store, plants, 'stop')
  return plants.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1))
}

function* ids(first: bigint, count: number, distance = 1n) {
  for (let index = 0n; index < count; index++) yield first + index * distance
}

t.test('few plants are found with one request', async (t) => {
  t.strictSame(await search(), { ids: [], requests: 1, roundTrips: 1 })
  const stored = await store(ids(1n, 200))
  t.strictSame(await search(), { ids: stored, requests: 1, roundTrips: 1 })
})

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const SPREAD = (2n ** 64n * 7n) / 11n

for (const [what, list] of Object.entries({
  'without gaps': ids(1n, 9000),
  'near the first guess': ids(1n, 3285),
  'below zero': ids(-5000n, 3000),
  'with gaps': ids(INT64_MIN, 3000, 2n ** 52n),
  'in clusters': [...ids(1n, 3000, SPREAD)].map((id) => BigInt.asIntN(64, id)),
  'with one far away': [...ids(1n, 3000), INT64_MAX],
  'with many far away': [...ids(1n, 3000), ...ids(INT64_MAX - 299n, 300)],
  'with two far away': [INT64_MIN, ...ids(1n, 3000), INT64_MAX],
})) {
  t.test(`the last plants are found among ids ${what}`, async (t) => {
    const stored = await store(list)
    const { ids: found, requests, roundTrips } = await search()
    t.ok(found.length >= LAST_ROWS, `${found.length} found`)
    t.strictSame(found, stored.slice(-found.length))
    t.ok(roundTrips <= 40, `${roundTrips} round trips, ${requests} requests`)
    t.comment(`${roundTrips} round trips, ${requests} requests`)
  })
}

t.test('the last plants that a filter selects are found', async (t) => {
  await store(ids(1n, 25_000))
  await service.call({ path: '/plants/batch', body: [{ id: 30_001, name: 'needle', tag: 'x' }] })
  t.strictSame((await search({ q: 'needle' })).ids, [30_001n])
  t.strictSame((await search({ q: 'nothing' })).ids, [])
  const { ids: even } = await search({ tag: 'even' })
  t.equal(even.at(-1), 25_000n)
  t.ok(even.every((id) => id % 2n === 0n) && even.length >= LAST_ROWS)
  const { ids: odd } = await search({ untagged: true })
  t.equal(odd.at(-1), 24_999n)
  t.ok(odd.length >= LAST_ROWS)
})

t.test('the search begins again if the plants are deleted meanwhile', async (t) => {
  await store(ids(1n, 3000))
  let requests = 0
  let deletion: Promise<unknown> | undefined
  const { ids: found } = await search({}, async () => {
    // By now, more than a page are known to follow the id 2389.
    if (++requests < 6) return
    const changes = [...ids(2000n, 1000)].map((id) => ({ op: 'remove' as const, id }))
    deletion ??= client.changePlants(changes)
    await deletion
  })
  t.ok(requests > 15, 'there were two searches')
  t.ok(found.length >= LAST_ROWS)
  t.equal(found.at(-1), 3000n)
})

t.test('the id after the last one is suggested', async (t) => {
  t.equal(await suggestId(client), 1n)
  await store([-5n, 7n])
  t.equal(await suggestId(client), 8n)
  await store([2n ** 63n - 1n])
  t.equal(await suggestId(client), undefined)
  const listPlants = () => Promise.reject(new Error('unavailable'))
  t.equal(await suggestId({ listPlants }), undefined)
})
