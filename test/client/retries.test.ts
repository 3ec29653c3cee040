/** Retries: which failures cause them, how often, after what delays, and how a caller stops them. */

import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import type { ClientOptions } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import {
  answered,
  answeredInstead,
  busy,
  connectThrough,
  type Fault,
  HTML,
  lost,
  shortenHours,
  silence,
  thrownBy,
} from './faulty-proxy.ts'
import { OPERATIONS } from './operation-calls.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, faults?: Fault[], options?: Partial<ClientOptions>) =>
  connectThrough(t, service, faults, options)

/** Each test has its own plant. */
let latest = 0n
const plant = async () => {
  const id = ++latest
  await importPlants(service.store, [{ id, name: 'before', tag: 'Tree' }], 'stop')
  return id
}

/** Those of proxies, and a change that takes effect although it fails. The service itself can cause all others. */
const FAULTS: Record<string, Fault> = {
  'a busy error after the change took effect': answeredInstead(...busy),
  'too many requests': answered(429, HTML, 'Slow down'),
  'a bad gateway': answered(502, HTML, '<html>'),
  'an unavailable proxy': answered(503),
  'a gateway timeout after the change took effect': answeredInstead(504, HTML, '<html>'),
}

for (const [what, fault] of Object.entries(FAULTS)) {
  t.test(`a create recovers from ${what}`, async (t) => {
    const [call, result, stored] = OPERATIONS.createPlant
    const id = ++latest
    const { client, proxy } = await connect(t, [fault])
    t.strictSame(await call(client, id), result(id))
    t.strictSame(await service.stored(id), { id, ...stored })
    t.equal(proxy.requests.length, 2)
  })
}

t.test('a permanent failure is not retried', async (t) => {
  const id = await plant()
  const { client, proxy } = await connect(t)
  t.match(await thrownBy(client.createPlant({ id, name: 'other' })), { condition: 'plant-exists' })
  for (const status of [400, 401, 403, 404, 405, 408, 409, 412, 413, 500, 501, 505]) {
    proxy.faults = [answered(status)]
    t.match(await thrownBy(client.getPlant(id)), { status })
  }
  t.equal(proxy.requests.length, 13)
})

t.test('a request is retried as often as configured, and the last failure is thrown', async (t) => {
  for (const retries of [0, 1, 3]) {
    const { client, proxy } = await connect(t, Array(9).fill(lost), { retries })
    t.match(await thrownBy(client.listPlants()), {
      name: 'ConnectionError',
      message: `no response from ${proxy.url}`,
      cause: { name: 'TypeError', cause: { code: 'UND_ERR_SOCKET' } },
    })
    t.equal(proxy.requests.length, retries + 1)
  }
  const { client } = await connect(t, [lost, answered(503, HTML, 'down')], { retries: 1 })
  t.match(await thrownBy(client.listPlants()), { name: 'UnexpectedResponseError', status: 503 })
})

for (const [random, delays] of [
  [0, [25, 50, 100]],
  [1, [50, 100, 200]],
] as const) {
  t.test(
    `the delays double: ${delays.join(', ')} ms if the random number is ${random}`,
    async (t) => {
      const { client } = await connect(t, [lost, lost, lost], { retryDelay: 50 })
      t.capture(Math, 'random', () => random)
      const timers = t.capture(globalThis, 'setTimeout', setTimeout)
      await client.listPlants()
      // The HTTP client has timers of its own.
      const timeouts = timers().map(({ args }) => Number(args[1]))
      t.same(
        timeouts.filter((timeout) => delays.some((delay) => delay === timeout)),
        delays,
      )
    },
  )
}

t.test('a delay does not exceed the maximum', async (t) => {
  // Many minutes, but within the range of a timer; beyond it, a timer fires at once.
  const retryDelay = 2 ** 30
  const { client } = await connect(t, [lost, lost], { retryDelay, maxRetryDelay: 2 })
  await client.listPlants()
})

t.test('a retry waits for Retry-After, which is in seconds', async (t) => {
  const date = new Date(Date.now() + 86_400_000).toUTCString()
  const faults = [7200, date].map((value) => answered(503, { 'retry-after': value }))
  const { client } = await connect(t, faults, { maxRetryDelay: 86_400_000 })
  const hours = shortenHours(t)
  await client.listPlants()
  t.same(hours, [2])
})

t.test('a failure whose Retry-After exceeds the maximum delay is thrown at once', async (t) => {
  const { client, proxy } = await connect(t, [answered(503, { 'retry-after': 31 })])
  t.match(await thrownBy(client.listPlants()), { status: 503, retryAfter: 31 })
  t.equal(proxy.requests.length, 1)
  proxy.faults = [answered(429, { 'retry-after': 3600 })]
  t.match(await thrownBy(client.listPlants()), { status: 429, retryAfter: 3600 })
})

t.test('an attempt that times out is retried', async (t) => {
  const { client } = await connect(t, [silence, silence], { timeout: 30, retries: 1 })
  t.match(await thrownBy(client.listPlants()), {
    name: 'ConnectionError',
    cause: { name: 'TimeoutError' },
  })
})

t.test('a call can have retries and a timeout of its own', async (t) => {
  const { client, proxy } = await connect(t, [], { retries: 1, timeout: 20_000 })
  const calls: [call: () => Promise<unknown>, requests: number][] = [
    [() => client.listPlants({}, { retries: 0 }), 1],
    [() => client.listPlants({}, { retries: 2 }), 3],
    [() => client.listPlants({}, { retries: undefined }), 2],
    [() => client.listTags({}, { timeout: 20_000 }), 2],
    [() => client.plants({}, { retries: 0 }).next(), 1],
    [() => client.changes({ retries: 2 }).next(), 3],
    [() => client.deletePlant(1n, { retries: 0 }), 1],
    [() => client.getPlant(1n, { retries: 0 }), 1],
    [() => client.changePlantsInParts([{ op: 'remove', id: 1n }], { retries: 0 }), 1],
  ]
  for (const [call, requests] of calls) {
    proxy.faults = Array(9).fill(lost)
    proxy.requests.length = 0
    await t.rejects(call())
    t.equal(proxy.requests.length, requests, String(call))
  }
  proxy.faults = [silence]
  t.match(await thrownBy(client.listPlants({}, { retries: 0, timeout: 30 })), {
    name: 'ConnectionError',
    cause: { name: 'TimeoutError' },
  })
})

t.test('the next page can have options of its own', async (t) => {
  await plant()
  await plant()
  const { client, proxy } = await connect(t)
  const { next } = await client.listPlants({ limit: 1 })
  proxy.faults = Array(9).fill(lost)
  proxy.requests.length = 0
  await t.rejects(known(next)({ retries: 1 }))
  t.equal(proxy.requests.length, 2)
})

const reason = new Error('enough')

/** A limit before which no delay or attempt ends on its own. Each test needs its own object, because tap changes it. */
const soon = () => ({ timeout: 20_000 })

t.test('a call with an aborted signal sends nothing', async (t) => {
  const { client, proxy } = await connect(t)
  const signal = AbortSignal.abort(reason)
  for (const call of [
    () => client.createPlant({ id: 1n, name: 'x' }, { signal }),
    () => client.changePlants([{ op: 'remove', id: 1n }], { signal }),
    () => client.listPlants({}, { signal }),
    () => client.plants({}, { signal }).next(),
    () => client.getPlant(1n, { signal }),
    () => client.replacePlant(1n, { name: 'x' }, { signal }),
    () => client.updatePlant(1n, {}, { signal }),
    () => client.deletePlant(1n, { signal }),
    () => client.listChanges({}, { signal }),
    () => client.changes({ signal }).next(),
  ]) {
    t.equal(await thrownBy(call()), reason)
  }
  t.same(proxy.requests, [])
})

t.test('aborting a call that waits for its response ends it at once', soon(), async (t) => {
  const stop = new AbortController()
  const { client, proxy } = await connect(t, [() => stop.abort(reason)])
  t.equal(await thrownBy(client.listPlants({}, stop)), reason)
  t.equal(proxy.requests.length, 1)
})

t.test('aborting a call that waits for a retry ends it at once', soon(), async (t) => {
  const stop = new AbortController()
  const { client, proxy } = await connect(t, [answered(503, { 'retry-after': 25 })])
  const call = client.listPlants({}, stop)
  call.catch(() => {})
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  await waitForListener(stop.signal)
  stop.abort(reason)
  t.equal(await thrownBy(call), reason)
  t.equal(timers(), before, 'no timer is left')
  t.equal(proxy.requests.length, 1)
})

t.test('a finished call leaves no listener on its signal', async (t) => {
  const { signal } = new AbortController()
  const { client } = await connect(t, [lost])
  await client.listPlants({}, { signal })
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test('aborting the iteration throws the abort reason', async (t) => {
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

/** Resolves when the signal has a listener. */
async function waitForListener(signal: AbortSignal): Promise<void> {
  while (getEventListeners(signal, 'abort').length === 0) await new Promise(setImmediate)
}
