/** Emptying a store for tests, or replacing its plants, over the admin port. */
import t, { type Test } from 'tap'
import type { ChangesRequest } from '../../service/store/change-feed.ts'
import { startPlantStore } from '../../src/index.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { EventStream } from '../helpers/network/event-stream.ts'
import { latestCursor, readAllChanges, readPage, replay } from '../helpers/plants/changes.ts'
import { Caller, send } from '../helpers/service/service.ts'
import { startFaulty } from './faulty-service.ts'

const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'

/** Starts a store with an admin port, which is closed when the test ends. */
async function start(t: Test) {
  const store = await startPlantStore({ faults: [], adminPort: 0 })
  t.teardown(store.close)
  const adminPort = Number(new URL(String(store.adminUrl)).port)
  const service = new Caller(Number(new URL(store.url).port), store.token)
  const reset = (body?: string, type = JSON_TYPE) => {
    const method = body === undefined ? 'DELETE' : 'PUT'
    return send(adminPort, { method, path: '/store', body, headers: { 'content-type': type } })
  }
  const create = (id: bigint, name = 'Acer') => service.call({ body: { id, name } })
  const plants = async () => (await service.call({ method: 'GET' })).json
  return { store, service, reset, create, plants }
}

t.test('the store, its feed and its requests are emptied; faults and tokens stay', async (t) => {
  const { store, service, reset, create, plants } = await start(t)
  store.setFaults([{ operation: 'deletePlant', error: 'store-busy' }])
  await create(1n)
  await create(2n)
  const { status, body } = await reset()
  t.same([status, body], [204, ''])
  t.same(store.requests, [])
  t.same(await plants(), [])
  t.same((await readPage(service)).changes, [])
  t.match(await service.call({ method: 'DELETE', path: '/plants/1' }), { status: 503 })
  t.equal((await create(1n, 'other')).status, 200)
  t.match((await readPage(service)).changes, [{ type: 'created', id: 1n }])
})

const BIG = 2n ** 53n + 1n

for (const [type, seed] of [
  [JSON_TYPE, `[{"id":${BIG},"name":"Käfer","tag":"x"},{"id":-1,"name":"Abies"}]`],
  [NDJSON, `{"id":${BIG},"name":"Käfer","tag":"x"}\n{"id":-1,"name":"Abies"}`],
  ['text/csv', `id,name,tag\n${BIG},Käfer,x\n-1,Abies,\n`],
] as const) {
  t.test(`the plants are replaced by ${type}`, async (t) => {
    const { service, reset, create, plants } = await start(t)
    await create(1n)
    for (const charset of ['', '; charset=utf-8']) {
      t.match(await reset(seed, type + charset), { status: 204 })
      const seeded = [
        { id: -1n, name: 'Abies' },
        { id: BIG, name: 'Käfer', tag: 'x' },
      ]
      t.same(await plants(), seeded)
      const { changes } = await readPage(service)
      t.match(changes, [
        { id: BIG, type: 'created', endsTransaction: undefined },
        { id: -1n, type: 'created', endsTransaction: true },
      ])
    }
  })
}

t.test('an empty file or array empties the store', async (t) => {
  const { reset, create, plants } = await start(t)
  for (const [body, type] of [
    ['[]', JSON_TYPE],
    ['', NDJSON],
    ['id,name\n', 'text/csv'],
  ] as const) {
    await create(1n)
    t.equal((await reset(body, type)).status, 204, type)
    t.same(await plants(), [])
  }
})

t.test('equal plants are stored once', async (t) => {
  const { reset, plants } = await start(t)
  const plant = '{"id":1,"name":"Abies"}'
  t.equal((await reset(`[${plant},${plant}]`)).status, 204)
  t.same(await plants(), [{ id: 1n, name: 'Abies' }])
})

t.test('an invalid seed changes nothing', async (t) => {
  const { store, service, reset, create, plants } = await start(t)
  await create(1n)
  const cursor = await latestCursor(service)
  for (const [body, type, message] of [
    ['[{"id":2,"name":"x"},{"id":3}]', JSON_TYPE, 'item 2: name is missing'],
    ['{"id":2,"name":"x","color":1}', NDJSON, 'line 1: unknown property "color"'],
    ['{"id":2,"name":"x"}\n{"id":2,"name":"y"}', NDJSON, /^line 2: repeats id 2 of line 1 /],
    ['[{"id":2,"name":"x"}', JSON_TYPE, /the file ends within the array/],
    ['id,name,color\n2,x,red\n', 'text/csv', /color/],
  ] as const) {
    const answer = await reset(body, type)
    t.equal(answer.status, 400, body)
    t.match(JSON.parse(answer.body), { error: 40002, message }, body)
  }
  t.same(await plants(), [{ id: 1n, name: 'Acer' }])
  t.equal((await readPage(service, `?after=${cursor}`)).status, 200)
  t.ok(store.requests.length > 3)
})

t.test('a seed has at most 1 MiB, and a known type', async (t) => {
  const { reset } = await start(t)
  t.equal((await reset('[]'.padEnd(2 ** 20))).status, 204)
  const large = await reset('[]'.padEnd(2 ** 20 + 1))
  t.equal(large.status, 413)
  t.equal(JSON.parse(large.body).message, 'expected a Content-Length of at most 1048576')
  for (const type of ['', 'text/plain', 'application/x-www-form-urlencoded']) {
    const answer = await reset('[]', type)
    t.equal(answer.status, 415)
    const message = 'the Content-Type must be application/json, application/x-ndjson or text/csv'
    t.equal(JSON.parse(answer.body).message, message)
  }
})

t.test('followers get 410, and new ones only what follows the reset', async (t) => {
  const { service, reset, create } = await start(t)
  await create(1n)
  const cursor = await latestCursor(service)
  const stream = await EventStream.open(t, service, { path: `/changes?after=${cursor}` })
  await create(2n)
  const { id } = await stream.next()
  const poll = readPage(service, `?after=${id}&wait=60`)
  await reset()
  t.match(await poll, { status: 410, json: { error: 41001 } })
  let block = await stream.nextBlock()
  while (block === ':') block = await stream.nextBlock()
  t.equal(block, undefined, 'the stream ends')
  const headers = { accept: 'text/event-stream', 'last-event-id': id }
  t.match(await service.call({ method: 'GET', path: '/changes', headers }), { status: 410 })
  const next = await EventStream.open(t, service)
  await create(3n)
  t.match(await next.changes(1), [{ type: 'created', id: 3n }])
  next.close()
})

t.test('followers of a reset store share no page with earlier ones', async (t) => {
  let reads = 0
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 5000 })
  t.teardown(() => store.close())
  const readChanges = (request: ChangesRequest) => {
    if (request.after === 'latest') reads++
    return store.readChanges(request)
  }
  // Pages are shared until the next commit.
  const nextCommit = () => new Promise<void>(() => {})
  const { service, injection } = await startFaulty(t, [], { instead: { readChanges, nextCommit } })
  for (let count = 0; count < 2; count++) await EventStream.open(t, service)
  t.equal(reads, 1)
  injection.forgetAll()
  await EventStream.open(t, service)
  t.equal(reads, 2)
})

t.test(
  'changes that run meanwhile are made before a reset or after it, and in the feed',
  async (t) => {
    const { service, reset, plants } = await start(t)
    const seed = JSON.stringify([{ id: 1000, name: 'Abies' }])
    const change = async (worker: number) => {
      for (let round = 0; round < 20; round++) {
        const path = `/plants/${worker}`
        const created = await service.call({ body: { id: worker, name: 'Acer' } })
        t.equal(created.status, 200)
        const put = await service.call({ method: 'PUT', path, body: { name: `Acer ${round}` } })
        const removed = await service.call({ method: 'DELETE', path })
        t.ok([200, 404].includes(put.status))
        t.ok([204, 404].includes(removed.status))
      }
      await service.call({ body: { id: worker, name: 'last' } })
    }
    let isDone = false
    const resets = async () => {
      while (!isDone) t.equal((await reset(seed)).status, 204)
    }
    const resetting = resets()
    await Promise.all([1, 2, 3, 4, 5].map(change))
    isDone = true
    await resetting
    t.strictSame(replay(await readAllChanges(service, '')), await plants())
  },
)
