/** `createPlants`: how it splits an array, and what it reports if a part fails. */

import t, { type Test } from 'tap'
import { NO_COUNTS } from '../../client/batches.ts'
import { BatchError, type NewPlant, toJson } from '../../client/client.ts'
import { createAll } from '../helpers/plants/lists.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import {
  answered,
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
  thrownBy,
  tooLarge,
} from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, faults?: Fault[], retries = 0) =>
  connectThrough(t, service, faults, { retries })

/** Each test has its own ids. */
let latest = 2n ** 53n
const plantsOf = (count: number, name = 'Abies'): NewPlant[] =>
  Array.from({ length: count }, () => ({ id: ++latest, name }))

const areStored = async (plants: readonly NewPlant[]) => {
  const stored = await Promise.all(plants.map(({ id }) => service.store.get(id)))
  return stored.map((plant) => plant !== undefined)
}

t.test('no plants are no request, nor is an id that is not a bigint', async (t) => {
  const { client, proxy } = await connect(t)
  const wrong = { id: 4 as unknown as bigint, name: 'x' }
  await t.rejects(client.createPlants([...plantsOf(1000), wrong]), TypeError)
  t.strictSame(await client.createPlants([]), { created: 0, unchanged: 0 })
  t.equal(proxy.requests.length, 0)
})

t.test('an array is split after 1,000 plants', async (t) => {
  const { client, proxy } = await connect(t)
  const plants = plantsOf(1001)
  t.strictSame(await client.createPlants(plants), { created: 1001, unchanged: 0 })
  t.equal(proxy.requests.length, 2)
  t.strictSame(await client.createPlants(plants.slice(1)), { created: 0, unchanged: 1000 })
  t.equal(proxy.requests.length, 3)
})

t.test('a part is at most 1 MiB of JSON', async (t) => {
  const { client, proxy } = await connect(t)
  for (const [excess, parts] of [
    [0, 1],
    [1, 2],
  ] as const) {
    const [one, two] = plantsOf(2, '€') as [NewPlant, NewPlant]
    const rest = 2 ** 20 + excess - Buffer.byteLength(toJson([one, two]))
    const plants = [one, { ...two, name: `€${'x'.repeat(rest)}` }]
    const before = proxy.requests.length
    t.strictSame(await client.createPlants(plants), { created: 2, unchanged: 0 })
    t.equal(proxy.requests.length - before, parts)
  }
})

t.test('a plant that is too large fails alone', async (t) => {
  const { client } = await connect(t)
  const [small, large] = [plantsOf(1), plantsOf(1, 'x'.repeat(2 ** 20))]
  const error = await thrownBy(client.createPlants([...small, ...large]))
  t.match(error, {
    start: 1,
    end: 2,
    counts: { created: 1 },
    cause: { condition: 'body-too-large' },
  })
  t.same(await areStored(small), [true])
})

t.test('a part that the service, or a proxy, refuses as too large is halved', async (t) => {
  const { client, proxy } = await connect(t, [tooLarge, answered(413), passed, lostResponse], 1)
  const plants = plantsOf(1005)
  t.strictSame(await client.createPlants(plants), { created: 755, unchanged: 250 })
  t.equal(proxy.requests.length, 7, '1000, 500, 250, 250 twice, 500 and 5')
  t.same(await areStored(plants), Array(1005).fill(true))
})

t.test('an error in a half of a part names that half', async (t) => {
  const { client, proxy } = await connect(t, [tooLarge, passed, tooLarge])
  const plants = plantsOf(1000)
  await createIn(service.store, { id: plants[510]?.id as bigint, name: 'Acer' })
  const error = await thrownBy(client.createPlants(plants))
  const cause = { condition: 'plant-exists', message: /^body\/10: / }
  t.match(error, { start: 500, end: 750, counts: { created: 500, unchanged: 0 }, cause })
  t.equal(proxy.requests.length, 4)
})

t.test('a plant is not sent again if it is refused as too large alone', async (t) => {
  const { client, proxy } = await connect(t, [tooLarge, tooLarge])
  const error = await thrownBy(client.createPlants(plantsOf(2)))
  t.match(error, {
    start: 0,
    end: 1,
    counts: { created: 0 },
    cause: { condition: 'changes-too-large' },
  })
  t.equal(proxy.requests.length, 2)
})

t.test('an error names the part that failed', async (t) => {
  const { client, proxy } = await connect(t)
  const plants = plantsOf(2100)
  await createAll(service.store, [plants[3] as NewPlant])
  await createIn(service.store, { id: plants[1017]?.id as bigint, name: 'Acer' })
  const error = await thrownBy(client.createPlants(plants))
  t.ok(error instanceof BatchError)
  const reason = `body/17: plant ${plants[1017]?.id} already exists with different content`
  t.match(error, {
    name: 'BatchError',
    message: `plants 1000 to 1999 failed: ${reason}`,
    start: 1000,
    end: 2000,
    counts: { created: 999, changed: 0, removed: 0, unchanged: 1 },
    cause: { name: 'ServiceError', condition: 'plant-exists', message: reason },
  })
  t.equal(proxy.requests.length, 2, 'later parts are not sent')
  const samples = [999, 1000, 1999, 2000].map((index) => plants[index] as NewPlant)
  t.same(await areStored(samples), [true, false, false, false])
})

t.test('the last part of an array can fail, after retries of its own', async (t) => {
  const { client, proxy } = await connect(t, [passed, answered(503), answered(500)], 2)
  const error = await thrownBy(client.createPlants(plantsOf(1001)))
  const message =
    /^plant 1000 failed: .*; this part may have been stored, and sending it again is safe$/
  const cause = { name: 'UnexpectedResponseError', status: 500 }
  t.match(error, { message, start: 1000, end: 1001, counts: { created: 1000 }, cause })
  t.equal(proxy.requests.length, 3)
})

t.test('an error claims nothing about plants that may have been stored', async (t) => {
  const faults: [Fault, isUnclear: boolean][] = [
    [lost, true],
    [answered(200), true],
    [answered(503), true],
    [answered(302), false],
    [answered(429), false],
  ]
  for (const [fault, isUnclear] of faults) {
    const { client } = await connect(t, [fault])
    const { message } = (await thrownBy(client.createPlants(plantsOf(2)))) as Error
    t.match(message, /^plants 0 to 1 failed: /)
    t.equal(
      /; this part may have been stored, and sending it again is safe$/.test(message),
      isUnclear,
    )
  }
})

t.test('an abort between two parts is thrown unchanged', async (t) => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  const { client, proxy } = await connect(t, [passed, () => controller.abort(reason)])
  const plants = plantsOf(1100)
  const error = await thrownBy(client.createPlants(plants, { signal: controller.signal }))
  t.equal(error, reason)
  t.equal(proxy.requests.length, 2)
  t.same(await areStored([plants[0], plants[1000]] as NewPlant[]), [true, false])
})

t.test('a reason without a message is described as well', async (t) => {
  const error = new BatchError(
    { noun: 'plant', start: 0, end: 2, counts: NO_COUNTS },
    { cause: 'stopped' },
  )
  t.equal(error.message, 'plants 0 to 1 failed: stopped')
})
