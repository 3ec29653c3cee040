/** The client against the real service: what it sends, and what its calls resolve to. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { createClient, type StoredPlant } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { startFaulty } from '../faults/faulty-service.ts'
import { storable } from '../helpers/plants/arbitraries.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { runs } from '../helpers/plants/runs.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { answered, connectThrough, startFaultyProxy, thrownBy } from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = () => createClient(service)

/** Each test uses its own tag, which keeps its plants apart from those of other tests. */
const plantsOf = (tag: string, ids: readonly bigint[]): StoredPlant[] =>
  ids.map((id) => ({ id, name: `${tag} ${id}`, tag }))

const store = async (tag: string, ids: readonly bigint[]): Promise<StoredPlant[]> => {
  const plants = plantsOf(tag, ids)
  await importPlants(service.store, plants, 'stop')
  return plants
}

const all = <Item>(items: AsyncIterable<Item>): Promise<Item[]> => Array.fromAsync(items)

t.test('a plant that matches ifNoneMatch is not fetched again', async (t) => {
  const client = connect()
  await store('known', [20n])
  const { etag } = await client.getPlant(20n)
  t.equal(await client.getPlant(20n, { ifNoneMatch: etag }), undefined)
  await client.updatePlant(20n, { name: 'changed' })
  const newer = await client.getPlant(20n, { ifNoneMatch: etag })
  t.equal(newer?.plant.name, 'changed')
  t.not(newer?.etag, etag)
})

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

t.test('every plant is returned exactly as sent', async () => {
  const client = connect()
  const plants = fc.record(
    { id: int64, name: storable, tag: storable },
    { requiredKeys: ['id', 'name'], noNullPrototype: true },
  )
  await fc.assert(
    fc.asyncProperty(plants, async (plant) => {
      const { id, ...content } = plant
      fc.pre((await service.stored(id)) === undefined)
      assert.deepEqual(await client.createPlant(plant), { plant: content })
      assert.deepEqual(await service.stored(id), { tag: null, ...plant })
      assert.deepEqual((await client.getPlant(id)).plant, plant)
      const after = id === -(2n ** 63n) ? {} : { after: id - 1n }
      const page = await client.listPlants({ ...after, limit: 1 })
      assert.deepEqual(page.plants, [plant])
      const tagged = await client.getPlant(id)
      assert.deepEqual(await client.updatePlant(id, {}, { ifMatch: tagged.etag }), tagged)
      assert.deepEqual(await client.replacePlant(id, content, { ifMatch: tagged.etag }), tagged)
      assert.equal(await client.deletePlant(id), undefined)
    }),
    {
      numRuns: runs(25),
      examples: [
        [{ id: 2n ** 53n + 1n, name: 'x' }],
        [{ id: 2n ** 63n - 1n, name: 'x' }],
        [{ id: -(2n ** 63n), name: '"id": 1', tag: '9007199254740993' }],
      ],
    },
  )
})

t.test('the iteration yields each plant with a tag once, for any page size', async (t) => {
  const client = connect()
  const tag = 'a & b=c #"ä"'
  const plants = await store(tag, [2n ** 62n, 2n ** 62n + 1n, 2n ** 62n + 2n, 2n ** 63n - 1n])
  for (const pageSize of [1, 3, 4, undefined]) {
    t.strictSame(await all(client.plants({ tag, pageSize })), plants, `pages of ${pageSize}`)
  }
  t.strictSame(await all(client.plants({ tag, after: 2n ** 62n, pageSize: 1 })), plants.slice(1))
  t.strictSame(await all(client.plants({ tag: 'none' })), [])
})

t.test('plants are fetched by their ids', async (t) => {
  const proxy = await startFaultyProxy(t, service)
  const client = createClient({ url: proxy.url, token: service.token })
  const ids = [2n ** 60n + 11n, 2n ** 60n + 12n]
  const plants = await store('ids', ids)
  t.strictSame(await client.listPlants({ id: [...ids.toReversed(), 2n ** 60n] }), { plants })
  t.strictSame(await all(client.plants({ id: ids.slice(1) })), plants.slice(1))
  t.equal(proxy.requests.length, 2)
  t.strictSame(await client.listPlants({ id: [] }), { plants: [] })
  t.equal(proxy.requests.length, 2, 'no request for no plants')
  t.match(await thrownBy(client.listPlants({ id: Array(201).fill(4n) })), {
    condition: 'invalid-parameter',
  })
  const number = 4 as unknown as bigint
  t.match(await thrownBy(client.listPlants({ id: [4n, number] })), { name: 'TypeError' })
})

t.test('a parameter that is undefined or null is not sent', async (t) => {
  const plants = await store('omitted', [2n ** 58n + 1n])
  const query = { tag: 'omitted', q: undefined, limit: null } as unknown as { tag: string }
  t.strictSame(await connect().listPlants(query), { plants })
})

t.test('a search goes on after a page without plants', async (t) => {
  const plants = await store('q', [2n ** 57n])
  const link = { link: '<?q=Q%20&tag=q>; rel="next"' }
  const { client, proxy } = await connectThrough(t, service, [answered(200, link, '[]')])
  t.strictSame(await all(client.plants({ q: 'Q &=#"', tag: 'q', pageSize: 1 })), plants)
  t.same(
    proxy.requests.map(({ line }) => line),
    ['GET /plants?q=Q%20%26%3D%23%22&tag=q&limit=1', 'GET /plants?q=Q%20&tag=q'],
  )
})

t.test('plants are counted, with and without a page of them', async (t) => {
  const { store, url, token } = await startService(t)
  const plants = [1n, 2n].map((id) => ({ id, name: 'Abies' }))
  await importPlants(store, [...plants, { id: 3n, name: 'Acer', tag: 'Tree' }], 'stop')
  const client = createClient({ url, token })
  t.strictSame(await client.countPlants(), { plants: 3, isExact: true })
  t.strictSame(await client.countPlants({ tag: 'Tree' }), { plants: 1, isExact: true })
  const count = { plants: 2, isExact: true }
  const first = await client.listPlants({ untagged: true, count: true, limit: 1 })
  t.match(first, { plants: plants.slice(0, 1), count })
  t.strictSame(await first.next?.(), { plants: plants.slice(1), count })
  t.strictSame(await all(client.plants({ untagged: true, pageSize: 1 })), plants)
})

t.test('tags are listed, and iterated over', async (t) => {
  const { store, url, token } = await startService(t)
  const tags = ['a & b', 'c#"ä"']
  await importPlants(
    store,
    tags.map((tag, id) => ({ id: BigInt(id), name: 'x', tag })),
    'stop',
  )
  const client = createClient({ url, token })
  t.strictSame((await all(client.tags())).toSorted(), tags)
  const first = await client.listTags({ limit: 1 })
  const second = await first.next?.()
  t.strictSame([...first.tags, ...known(second).tags].toSorted(), tags)
  t.equal(second?.next, undefined)
})

t.test('the iteration fetches a page only when it reaches it', async (t) => {
  const proxy = await startFaultyProxy(t, service)
  const client = createClient({ url: proxy.url, token: service.token })
  await store('lazy', [30n, 31n, 32n])
  for await (const plant of client.plants({ tag: 'lazy', pageSize: 1 })) {
    if (plant.id === 31n) break
  }
  t.equal(proxy.requests.length, 2)
  const first = await client.listPlants({ tag: 'lazy', limit: 2 })
  const second = await first.next?.()
  t.strictSame(
    [first, second].map((page) => page?.plants.map(({ id }) => id)),
    [[30n, 31n], [32n]],
  )
  t.equal(second?.next, undefined)
})

t.test('a URL can have a path, with any number of slashes at its end', async (t) => {
  const { url, requests } = await startFaultyProxy(t, service, [], '/some/prefix')
  const tag = 'prefix'
  const plants = await store(tag, [100n, 101n])
  for (const ending of ['', '/', '//']) {
    const client = createClient({ url: new URL(url + ending), token: service.token })
    t.strictSame(await all(client.plants({ tag, pageSize: 1 })), plants)
    t.strictSame((await client.getPlant(100n)).plant, plants[0])
  }
  t.ok(requests.every(({ line }) => line.split(' ')[1]?.startsWith('/some/prefix/plants')))
})

t.test('a custom fetch is used', async (t) => {
  const { url, token } = service
  const authorizations: (string | null)[] = []
  const client = createClient({
    url,
    token,
    fetch: (request) => {
      authorizations.push(request.headers.get('authorization'))
      return fetch(request)
    },
  })
  await client.listPlants()
  t.strictSame(authorizations, [`Bearer ${token}`])
})

t.test('a function supplies a fresh token for each attempt', async (t) => {
  const { service } = await startFaulty(t, [{ first: 1, cut: 'before-work' }])
  const { url } = service
  const lost = await service.issueToken('of the attempt that is lost', ['read'])
  const tokens = [lost, service.token, 'expired', service.token]
  const client = createClient({ url, retryDelay: 1, token: () => tokens.shift() ?? '' })
  await client.listPlants()
  t.match(await thrownBy(client.listPlants()), { condition: 'token-invalid' })
  await client.listPlants()
  const later = createClient({ url, token: async () => service.token })
  await later.listPlants()
  t.strictSame(tokens, [])
})

t.test('a token that is not set or empty is rejected', async (t) => {
  const message =
    /^the option token is missing or empty: expected an access token, or a function that returns one$/
  for (const token of [undefined, '', ' \n', 5, {}]) {
    const options = { url: 'http://127.0.0.1', token: token as string }
    t.throws(() => createClient(options), { name: 'TypeError', message })
  }
})

t.test('a platform that cannot write exact ids is named', async (t) => {
  const { rawJSON } = JSON as unknown as { rawJSON: unknown }
  t.teardown(() => Object.assign(JSON, { rawJSON }))
  Reflect.deleteProperty(JSON, 'rawJSON')
  const message = 'the client needs Node 22 or later, or a browser that has JSON.rawJSON'
  t.throws(() => createClient({ url: 'http://127.0.0.1', token: 'x' }), { message })
})

t.test('a call whose token cannot be supplied rejects without a request', async (t) => {
  const { url, requests } = await startFaultyProxy(t, service)
  const failure = new Error('signed out')
  const failing = createClient({ url, token: () => Promise.reject(failure) })
  t.equal(await thrownBy(failing.listPlants()), failure)
  const invalid = createClient({ url, token: () => 'no\nheader' })
  t.match(await thrownBy(invalid.listPlants()), { name: 'TypeError' })
  for (const supplied of ['', ' ', undefined] as string[]) {
    const empty = createClient({ url, token: async () => supplied })
    const message = 'the function of the option token returned no token'
    t.match(await thrownBy(empty.listPlants()), { name: 'TypeError', message })
  }

  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const pending = createClient({ url, token: () => new Promise(() => resolve()) })
  const abort = new AbortController()
  const { signal } = abort
  const call = pending.listPlants({}, { signal })
  await asked
  abort.abort(failure)
  t.equal(await thrownBy(call), failure)
  t.equal(await thrownBy(pending.listPlants({}, { signal })), failure)
  t.same(requests, [])
})

const INVALID_URLS = [
  ...['localhost:3000', 'ftp://host', '/plants', ''],
  ...['http://user:password@host', 'http://host/?query', 'http://host/#fragment'],
]
t.test(
  'an invalid URL is rejected, and not quoted, because it can contain a password',
  async (t) => {
    const message =
      /^invalid url: expected a URL such as http:\/\/host:3000 or https:\/\/host\/prefix \(in browsers also a relative one such as \/prefix\), without credentials, query or fragment$/
    for (const url of INVALID_URLS) {
      t.throws(() => createClient({ url, token: 'x' }), { name: 'TypeError', message }, url)
    }
  },
)

t.test('an id that is not a bigint is rejected before anything is sent', async (t) => {
  const proxy = await startFaultyProxy(t, service)
  const client = createClient({ url: proxy.url, token: service.token })
  for (const id of [4, '4', undefined, null] as unknown as bigint[]) {
    const calls = [
      () => client.createPlant({ id, name: 'x' }),
      () => client.getPlant(id),
      () => client.replacePlant(id, { name: 'x' }),
      () => client.updatePlant(id, {}),
      () => client.deletePlant(id),
      ...(id === undefined ? [] : [() => client.listPlants({ after: id })]),
    ]
    const message = `invalid id: expected a bigint such as 4n, not the ${typeof id} ${id}`
    for (const call of calls) t.match(await thrownBy(call()), { name: 'TypeError', message })
  }
  t.same(proxy.requests, [])
})

t.test('a value that cannot be sent unchanged is rejected', async (t) => {
  const client = connect()
  t.match(await thrownBy(client.listPlants({ tag: '\ud800' })), { name: 'URIError' })
  t.match(await thrownBy(client.deletePlant(1n, { ifMatch: '"ä€"' })), { name: 'TypeError' })
  t.match(await thrownBy(client.getPlant(2n ** 63n)), { condition: 'invalid-parameter' })
  t.match(await thrownBy(client.createPlant({ id: 2n ** 63n, name: 'x' })), {
    condition: 'invalid-body',
  })
  t.match(await thrownBy(client.createPlant({ id: 1n, name: '\ud800' })), {
    condition: 'invalid-body',
  })
})
