/** The search for the last plants of a list, which a service returns in ascending order only. */
import t from 'tap'
import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { type Filter, matches } from '../../page/list/filter.ts'
import { findLastPlants, LAST_ROWS, suggestId } from '../../page/list/last-plants.ts'

/** How many plants one request of a search examines. */
const EXAMINED = 1000

/** What a service does with the plants with these ids, and how many requests it has got, in how many round trips. */
class Listed {
  plants: readonly StoredPlant[]
  requests = 0
  roundTrips = 0
  #inFlight = 0

  constructor(ids: Iterable<bigint>) {
    const sorted = [...ids].sort((one, other) => (one < other ? -1 : 1))
    this.plants = sorted.map((id) => ({
      id,
      name: 'Abies',
      ...(id % 2n === 0n && { tag: 'even' }),
    }))
  }

  get ids(): bigint[] {
    return this.plants.map(({ id }) => id)
  }

  listPlants = async ({ after, limit = 100, ...filter }: Filter & Query): Promise<Page> => {
    this.requests += 1
    if (this.#inFlight++ === 0) this.roundTrips += 1
    await new Promise(setImmediate)
    this.#inFlight -= 1
    const start = this.plants.findIndex(({ id }) => after === undefined || id > after)
    const rest = start < 0 ? [] : this.plants.slice(start)
    const examined = rest.slice(0, EXAMINED)
    const found = examined.filter((plant) => matches(plant, filter)).slice(0, limit)
    const last = found.length === limit ? found.at(-1) : examined.at(-1)
    if (last === undefined || last === this.plants.at(-1)) return { plants: found }
    const next = () => this.listPlants({ after: last.id, limit, ...filter })
    return { plants: found, next }
  }
}

interface Query {
  readonly after?: bigint
  readonly limit?: number
}

interface Page {
  readonly plants: StoredPlant[]
  readonly next?: () => Promise<Page>
}

const clientOf = ({ listPlants }: Pick<Listed, 'listPlants'>) =>
  ({ listPlants }) as unknown as Pick<PlantStoreClient, 'listPlants'>

async function search(listed: Listed, filter: Filter = {}): Promise<bigint[]> {
  const found = await findLastPlants(clientOf(listed), filter, new AbortController().signal)
  return found.map(({ id }) => id)
}

function* ids(first: bigint, count: number, distance = 1n) {
  for (let index = 0n; index < count; index++) yield first + index * distance
}

t.test('few plants are found with one request', async (t) => {
  for (const count of [0, 200]) {
    const listed = new Listed(ids(1n, count))
    t.strictSame(await search(listed), listed.ids)
    t.equal(listed.requests, 1)
  }
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
    const listed = new Listed(list)
    const found = await search(listed)
    t.ok(found.length >= LAST_ROWS, `${found.length} found`)
    t.strictSame(found, listed.ids.slice(-found.length))
    t.ok(listed.roundTrips <= 40, `${listed.roundTrips} round trips, ${listed.requests} requests`)
  })
}

t.test('the last plants that a filter selects are found', async (t) => {
  const listed = new Listed(ids(1n, 25_000))
  listed.plants = [...listed.plants, { id: 30_001n, name: 'needle', tag: 'x' }]
  t.strictSame(await search(listed, { q: 'needle' }), [30_001n])
  t.strictSame(await search(listed, { q: 'nothing' }), [])
  const even = await search(listed, { tag: 'even' })
  t.equal(even.at(-1), 25_000n)
  t.ok(even.every((id) => id % 2n === 0n) && even.length >= LAST_ROWS)
  const odd = await search(listed, { untagged: true })
  t.equal(odd.at(-1), 24_999n)
  t.ok(odd.length >= LAST_ROWS)
})

t.test('the search begins again if the plants are deleted meanwhile', async (t) => {
  const listed = new Listed(ids(1n, 3000))
  const { listPlants } = listed
  listed.listPlants = (query) => {
    // By now, more than a page are known to follow the id 2389.
    if (listed.requests === 6) {
      listed.plants = listed.plants.filter(({ id }) => id < 2000n || id >= 3000n)
    }
    return listPlants(query)
  }
  const found = await search(listed)
  t.ok(listed.requests > 15, 'there were two searches')
  t.ok(found.length >= LAST_ROWS)
  t.equal(found.at(-1), 3000n)
})

t.test('the id after the last one is suggested', async (t) => {
  for (const [stored, suggested] of [
    [[], 1n],
    [[-5n, 7n], 8n],
    [[7n, INT64_MAX], undefined],
  ] as const) {
    t.equal(await suggestId(clientOf(new Listed(stored))), suggested)
  }
  const listPlants = () => Promise.reject(new Error('unavailable'))
  t.equal(await suggestId({ listPlants }), undefined)
})
