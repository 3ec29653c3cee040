/** What the client does by itself when a request, an answer or the service gets lost. */
import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import type { ClientOptions, PlantStoreClient } from '../../client/client.ts'
import { type Service, startService } from '../helpers/service.ts'
import {
  answered,
  answeredInstead,
  busy,
  connectThrough,
  type Fault,
  type FaultyProxy,
  HTML,
  halfAnAnswer,
  lost,
  lostAnswer,
  silence,
  thrownBy,
} from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, faults?: Fault[], options?: Partial<ClientOptions>) =>
  connectThrough(t, service, faults, options)

/** A plant that each test has for itself. */
let latest = 0n
const plant = async () => {
  const id = ++latest
  await service.store.importPlants([{ id, name: 'before', tag: 'Tree' }], 'stop')
  return id
}

const FAULTS: Record<string, Fault> = {
  'a lost request': lost,
  'a lost answer': lostAnswer,
  'half an answer': halfAnAnswer,
  'a busy store': answered(...busy),
  'a busy store that has done it': answeredInstead(...busy),
  'too many requests': answered(429, HTML, 'Slow down'),
  'a bad gateway': answered(502, HTML, '<html>'),
  'an unavailable proxy': answered(503),
  'a slow service': answeredInstead(504, HTML, '<html>'),
}

type Call = (client: PlantStoreClient, id: bigint) => Promise<unknown>

type Case = [call: Call, result: (id: bigint) => unknown, stored: object | undefined]

const before = { name: 'before', tag: 'Tree' }

const CASES: Record<string, Case> = {
  createPlant: [
    (client, id) => client.createPlant({ id, name: 'created' }),
    () => ({ plant: { name: 'created' } }),
    { name: 'created', tag: null },
  ],
  listPlants: [
    (client, id) => client.listPlants({ after: id - 1n, limit: 1 }),
    (id) => ({ plants: [{ id, ...before }] }),
    before,
  ],
  getPlant: [
    async (client, id) => (await client.getPlant(id)).plant,
    (id) => ({ id, ...before }),
    before,
  ],
  replacePlant: [
    (client, id) => client.replacePlant(id, { name: 'replaced' }),
    (id) => ({ plant: { id, name: 'replaced' } }),
    { name: 'replaced', tag: null },
  ],
  updatePlant: [
    async (client, id) => (await client.updatePlant(id, { name: 'updated' })).plant,
    (id) => ({ id, name: 'updated', tag: 'Tree' }),
    { name: 'updated', tag: 'Tree' },
  ],
  deletePlant: [(client, id) => client.deletePlant(id), () => undefined, undefined],
}

for (const [name, [call, result, stored]] of Object.entries(CASES)) {
  for (const [what, fault] of Object.entries(FAULTS)) {
    t.test(`${name} gets over ${what}`, async (t) => {
      const id = name === 'createPlant' ? ++latest : await plant()
      const { client, proxy } = await connect(t, [fault])
      t.strictSame(await call(client, id), result(id))
      t.strictSame(await service.stored(id), stored && { id, ...stored })
      t.equal(proxy.requests.length, 2)
    })
  }
}

t.test('what another try would not help is not tried again', async (t) => {
  const id = await plant()
  const { client, proxy } = await connect(t)
  t.match(await thrownBy(client.createPlant({ id, name: 'other' })), { condition: 'plant-exists' })
  for (const status of [400, 401, 403, 404, 405, 408, 409, 412, 413, 500, 501, 505]) {
    proxy.faults = [answered(status)]
    t.match(await thrownBy(client.getPlant(id)), { status })
  }
  t.equal(proxy.requests.length, 13)
})

t.test('a request is tried as often as is asked for, and the last failure is thrown', async (t) => {
  for (const retries of [0, 1, 3]) {
    const { client, proxy } = await connect(t, Array(9).fill(lost), { retries })
    t.match(await thrownBy(client.listPlants()), {
      name: 'ConnectionError',
      message: `there is no answer from ${proxy.url}`,
      cause: { name: 'TypeError', cause: { code: 'UND_ERR_SOCKET' } },
    })
    t.equal(proxy.requests.length, retries + 1)
  }
  const { client } = await connect(t, [lost, answered(503, HTML, 'down')], { retries: 1 })
  t.match(await thrownBy(client.listPlants()), { name: 'UnexpectedAnswerError', status: 503 })
})

/** Milliseconds between one request and the next. */
const waitsOf = ({ requests }: FaultyProxy): number[] =>
  requests.slice(1).map(({ time }, index) => time - Number(requests[index]?.time))

/** Timers may fire a little early. */
const EARLY = 2

for (const [random, waits] of [
  [0, [25, 50, 100]],
  [1, [50, 100, 200]],
] as const) {
  t.test(
    `the waits double, and a random ${random} makes them ${waits.join(', ')} ms`,
    async (t) => {
      const { client } = await connect(t, [lost, lost, lost], { retryDelay: 50 })
      t.capture(Math, 'random', () => random)
      const timers = t.capture(globalThis, 'setTimeout', setTimeout)
      await client.listPlants()
      // The HTTP client has timers of its own.
      const delays = timers().map(({ args }) => Number(args[1]))
      t.same(
        delays.filter((delay) => waits.some((wait) => wait === delay)),
        waits,
      )
    },
  )
}

t.test('no wait is longer than allowed', async (t) => {
  // Many minutes, but no more than a timer can wait: beyond that it fires at once.
  const retryDelay = 2 ** 30
  const { client } = await connect(t, [lost, lost], { retryDelay, maxRetryDelay: 2 })
  await client.listPlants()
})

t.test('Retry-After is waited for', async (t) => {
  const { client, proxy } = await connect(t, [answered(503, { 'retry-after': 1 })])
  await client.listPlants()
  t.ok(Number(waitsOf(proxy)[0]) > 1000 - EARLY, `${waitsOf(proxy)}`)
})

t.test('a Retry-After beyond the longest wait is left to the caller', async (t) => {
  const { client, proxy } = await connect(t, [answered(503, { 'retry-after': 31 })])
  t.match(await thrownBy(client.listPlants()), { status: 503, retryAfter: 31 })
  t.equal(proxy.requests.length, 1)
  proxy.faults = [answered(429, { 'retry-after': 3600 })]
  t.match(await thrownBy(client.listPlants()), { status: 429, retryAfter: 3600 })
})

t.test('a Retry-After that is not in seconds is as none', async (t) => {
  const date = new Date(Date.now() + 86_400_000).toUTCString()
  const { client } = await connect(t, [answered(503, { 'retry-after': date })])
  await client.listPlants()
})

t.test('a try that takes too long is given up, and tried again', async (t) => {
  const { client } = await connect(t, [silence, silence], { timeout: 30, retries: 1 })
  t.match(await thrownBy(client.listPlants()), {
    name: 'ConnectionError',
    cause: { name: 'TimeoutError' },
  })
})

const reason = new Error('enough')

/** Long before a wait or a try would end by itself. */
const SOON = { timeout: 10_000 }

t.test('a call that is aborted before it began sends nothing', async (t) => {
  const { client, proxy } = await connect(t)
  const signal = AbortSignal.abort(reason)
  for (const call of [
    () => client.createPlant({ id: 1n, name: 'x' }, { signal }),
    () => client.listPlants({}, { signal }),
    () => client.plants({}, { signal }).next(),
    () => client.getPlant(1n, { signal }),
    () => client.replacePlant(1n, { name: 'x' }, { signal }),
    () => client.updatePlant(1n, {}, { signal }),
    () => client.deletePlant(1n, { signal }),
  ]) {
    t.equal(await thrownBy(call()), reason)
  }
  t.same(proxy.requests, [])
})

t.test('a call that is aborted while it waits for the answer ends at once', SOON, async (t) => {
  const stop = new AbortController()
  const { client, proxy } = await connect(t, [() => stop.abort(reason)])
  t.equal(await thrownBy(client.listPlants({}, stop)), reason)
  t.equal(proxy.requests.length, 1)
})

t.test('a call that is aborted while it waits for another try ends at once', SOON, async (t) => {
  const stop = new AbortController()
  const { client, proxy } = await connect(t, [answered(503, { 'retry-after': 25 })])
  const call = client.listPlants({}, stop)
  call.catch(() => {})
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await listenedTo(stop.signal)
  stop.abort(reason)
  t.equal(await thrownBy(call), reason)
  t.equal(timers(), before, 'no timer is left')
  t.equal(proxy.requests.length, 1)
})

t.test('a signal that outlives its calls is not listened to any more', async (t) => {
  const { signal } = new AbortController()
  const { client } = await connect(t, [lost])
  await client.listPlants({}, { signal })
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test('the iteration ends with the reason of its signal', async (t) => {
  const id = await plant()
  await plant()
  const stop = new AbortController()
  const { client, proxy } = await connect(t)
  const plants = client.plants({ after: id - 1n, pageSize: 1 }, stop)
  t.equal((await plants.next()).value?.id, id)
  stop.abort(reason)
  t.equal(await thrownBy(plants.next()), reason)
  t.equal(proxy.requests.length, 1)
})

/** Resolves when somebody waits for the signal. */
async function listenedTo(signal: AbortSignal): Promise<void> {
  while (getEventListeners(signal, 'abort').length === 0) await new Promise(setImmediate)
}
