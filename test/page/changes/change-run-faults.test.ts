/** Runs of changes that lose requests and responses, or are canceled. */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  ConnectionError,
  createClient,
  PlantStoreError,
  type StoredPlant,
} from '../../../client/client.ts'
import type { Intent } from '../../../page/changes/delivery.ts'
import {
  answered,
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
} from '../../client/faulty-proxy.ts'
import { type Service, startService } from '../../helpers/service.ts'
import {
  adding,
  after,
  clientWith,
  named,
  type Options,
  removing,
  renaming,
  run,
  store,
  tagging,
} from './run.ts'

const NOTHING = { created: 0, changed: 0, removed: 0, unchanged: 0 }
const CHANGED = 'Somebody has changed this plant meanwhile'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Carries out intents with a client that does not repeat requests. The person lets the run continue after failures. */
async function runThrough(
  t: Test,
  faults: Fault[],
  intents: readonly Intent[],
  options: Options = {},
  retries = 0,
) {
  const { client } = await connectThrough(t, service, faults, { retries })
  let failures = 0
  const onFailure = async () => {
    failures += 1
  }
  const result = await run(t, service, intents, { client, onFailure, ...options })
  return { ...result, failures }
}

async function storedPlants(id: bigint[]): Promise<StoredPlant[]> {
  return (await createClient(service).listPlants({ id })).plants
}

const idsOf = (intents: readonly Intent[]) => intents.map(({ id }) => id).sort()

/** Stores two plants to change and two to delete, and adds two. */
async function mixed(start: number) {
  const seen = named('Abies', start, 4)
  await store(service, seen)
  const intents = [
    ...seen.slice(0, 2).map(tagging('Tree')),
    ...seen.slice(2).map(removing),
    ...named('Acer', start + 4, 2).map(adding),
  ]
  const ids = intents.map(({ id }) => id)
  return { seen, intents, ids }
}

for (const { what, faults, failures, start } of [
  { what: 'a lost request', faults: [lost], failures: 1, start: 100 },
  { what: 'a lost response', faults: [lostResponse], failures: 1, start: 200 },
  {
    what: 'lost requests and responses',
    faults: [lost, lostResponse, lost, passed, lost],
    failures: 4,
    start: 300,
  },
]) {
  t.test(`after ${what}, each plant is counted once, and can be taken back`, async (t) => {
    const { seen, intents, ids } = await mixed(start)
    const { counts, undo, unknown, ...rest } = await runThrough(t, faults, intents)
    t.equal(rest.failures, failures)
    t.same(counts, { created: 2, changed: 2, removed: 2, unchanged: 0 })
    t.same([idsOf(undo), unknown], [ids, 0])
    await run(t, service, undo)
    t.strictSame(await storedPlants(ids), seen)
  })
}

t.test('the client repeats a lost list, and what it did can be taken back', async (t) => {
  const { seen, intents, ids } = await mixed(400)
  const { counts, undo, failures } = await runThrough(t, [lostResponse], intents, {}, 2)
  t.equal(failures, 0)
  t.same(counts, { created: 2, changed: 2, removed: 2, unchanged: 0 })
  await run(t, service, undo)
  t.strictSame(await storedPlants(ids), seen)
})

t.test('plants whose addition was lost count as added', async (t) => {
  const intents = named('Alnus', 500, 3).map(adding)
  const { counts, undo, unknown } = await runThrough(t, [lostResponse], intents)
  t.same(counts, { ...NOTHING, created: 3 })
  t.same([idsOf(undo), unknown], [[500n, 501n, 502n], 0])
})

t.test('plants that were there before a lost request are not taken back', async (t) => {
  await store(service, named('Betula', 600, 1))
  const intents = named('Betula', 600, 3).map(adding)
  const { counts, undo, unknown } = await runThrough(t, [lost], intents)
  t.same(counts, { ...NOTHING, created: 2, unchanged: 1 })
  t.same([undo, unknown], [[], 3], 'it is unknown which of them were there')
})

t.test('plants that somebody else may have added are left out of an undo', async (t) => {
  const intents = named('Carex', 700, 3).map(adding)
  const change = () => store(service, [{ id: 702n, name: 'of others' }])
  const faults = [lostResponse, after(change)]
  const { counts, refused, undo, unknown } = await runThrough(t, faults, intents, {}, 1)
  t.same(counts, { ...NOTHING, unchanged: 2 })
  t.equal(refused.length, 1)
  t.same([undo, unknown], [[], 2])
})

t.test('what a lost list has changed can be taken back, whatever others add to it', async (t) => {
  const seen = named('Cedrus', 800, 2)
  await store(service, seen)
  const change = () => store(service, [{ id: 800n, name: 'of others', tag: 'Tree' }])
  const faults = [lostResponse, after(change)]
  const { counts, undo } = await runThrough(t, faults, seen.map(tagging('Tree')))
  t.same(counts, { ...NOTHING, changed: 2 })
  const back = await run(t, service, undo)
  t.same(back.refused, [])
  t.strictSame(await storedPlants([800n, 801n]), [
    { id: 800n, name: 'of others' },
    { id: 801n, name: 'Cedrus' },
  ])
})

for (const { what, faults } of [
  { what: 'a lost look', faults: [lost] },
  { what: 'a lost request', faults: [passed, lost] },
  { what: 'a lost response', faults: [passed, lostResponse] },
  { what: 'a busy service', faults: [passed, answered(503), answered(503)] },
]) {
  t.test(`a plant that is delivered alone continues after ${what}`, async (t) => {
    const seen = { id: 900n, name: 'Cornus', tag: 'Tree' }
    const theirs = { ...seen, tag: 'Shrub' }
    await store(service, [theirs])
    const all = [passed, passed, ...faults]
    const renamed = await runThrough(t, all, [renaming('Corylus')(seen)])
    t.same(renamed.counts, { ...NOTHING, changed: 1 })
    await run(t, service, renamed.undo)
    t.strictSame(await storedPlants([900n]), [theirs])
  })
}

t.test('several plants that fail together ask the person once', async (t) => {
  const seen = named('Erica', 1000, 3)
  // All have changed.
  await store(service, named('of others', 1000, 3))
  const client = createClient(service)
  let lookups = 0
  const getPlant = async (id: bigint) => {
    lookups += 1
    if (lookups <= 3) throw new ConnectionError('lost')
    return client.getPlant(id)
  }
  let failures = 0
  const { counts } = await run(t, service, seen.map(tagging('Tree')), {
    client: clientWith(client, { getPlant }),
    onFailure: async () => {
      failures += 1
      await setImmediate()
    },
  })
  t.equal(failures, 1)
  t.same(counts, { ...NOTHING, changed: 3 })
})

/** Forwards a request, or not, and never responds. Cancels the run. */
function canceling(controller: AbortController, isForwarded: boolean): Fault {
  return async ({ forward, response }) => {
    if (isForwarded) await forward()
    controller.abort(new Error('canceled'))
    await once(response, 'close')
  }
}

for (const { where, faults, start } of [
  { where: 'a list', faults: [], start: 2000 },
  { where: 'the look at the plants of a lost list', faults: [lostResponse, passed], start: 2200 },
]) {
  for (const isForwarded of [true, false]) {
    const id = start + Number(isForwarded) * 100
    t.test(`a canceled run, in ${where}, can be taken back: ${isForwarded}`, async (t) => {
      const { seen, intents, ids } = await mixed(id)
      const controller = new AbortController()
      const { signal } = controller
      const all = [...faults, canceling(controller, isForwarded)]
      const { error, undo } = await runThrough(t, all, intents, { signal })
      t.match(error, { message: 'canceled' })
      t.same(idsOf(undo), ids)
      await run(t, service, undo)
      t.strictSame(await storedPlants(ids), seen)
    })
  }
}

t.test('a run that is canceled while it waits for the person can be taken back', async (t) => {
  const { seen, intents, ids } = await mixed(3000)
  const onFailure = () => Promise.reject(new Error('canceled'))
  const { error, undo } = await runThrough(t, [lostResponse], intents, { onFailure })
  t.match(error, { message: 'canceled' })
  await run(t, service, undo)
  t.strictSame(await storedPlants(ids), seen)
})

for (const isForwarded of [true, false]) {
  t.test(`a canceled delivery of one plant can be taken back: ${isForwarded}`, async (t) => {
    const seen = named('Fagus', 4000, 8)
    const theirs = named('of others', 4000, 8)
    await store(service, theirs)
    const controller = new AbortController()
    const { signal } = controller
    const { client } = await connectThrough(t, service, [passed, passed], { retries: 0 })
    let updates = 0
    const updatePlant: typeof client.updatePlant = async (...parameters) => {
      updates += 1
      if (updates < 7) return client.updatePlant(...parameters)
      if (isForwarded) await client.updatePlant(...parameters)
      controller.abort(new Error('canceled'))
      return signal.throwIfAborted() as never
    }
    const { error, undo } = await run(t, service, seen.map(tagging('Tree')), {
      client: clientWith(client, { updatePlant }),
      signal,
    })
    t.match(error, { message: 'canceled' })
    t.ok(undo.length >= 7)
    const back = await run(t, service, undo)
    t.same(back.refused, [])
    t.strictSame(await storedPlants(seen.map(({ id }) => id)), theirs)
  })
}

t.test('a canceled run lists what a lost list may have done to plants of others', async (t) => {
  const seen = named('Ginkgo', 5000, 8)
  await store(service, seen)
  const controller = new AbortController()
  const change = () =>
    store(
      service,
      seen.map(({ id }) => ({ id, name: 'of others', tag: 'Tree' })),
    )
  const faults = [lostResponse, after(change), passed, canceling(controller, false)]
  const { signal } = controller
  const { error, undo } = await runThrough(t, faults, seen.map(tagging('Tree')), { signal })
  t.match(error, { message: 'canceled' })
  t.equal(undo.length, 8)
  await run(t, service, undo)
  t.same(
    (await storedPlants(seen.map(({ id }) => id))).map(({ tag }) => tag),
    Array(8).fill(undefined),
  )
})

t.test('taking back what others have changed since is refused', async (t) => {
  const seen = named('Hedera', 6000, 2)
  await store(service, seen)
  const { undo } = await run(t, service, seen.map(tagging('Tree')))
  await store(service, [{ id: 6000n, name: 'Hedera', tag: 'of others' }])
  const { counts, refused } = await run(t, service, undo)
  t.same(counts, { ...NOTHING, changed: 1 })
  t.strictSame(refused, [[6000n, CHANGED, { id: 6000n, name: 'Hedera', tag: 'of others' }]])
})

t.test('what the service has not done is not taken back', async (t) => {
  const plants = named('Ulmus', 30_001, 3)
  await store(service, plants)
  const token = await service.issueToken('read only', ['read'])
  const client = createClient({ url: service.url, token })
  const canceled = new Error('canceled')
  const changePlants = () => Promise.reject(new PlantStoreError('plant-changed', 'changed'))
  for (const each of [client, clientWith(client, { changePlants })]) {
    const onFailure = () => Promise.reject(canceled)
    const result = await run(t, service, plants.map(removing), { client: each, onFailure })
    t.match(result, { undo: [], counts: NOTHING, error: canceled })
  }
})

t.test('a value that the service refuses ends a run in which all plants get it', async (t) => {
  const plants = named('Viola', 31_001, 200)
  await store(service, plants)
  const { client, proxy } = await connectThrough(t, service)
  const intents = plants.map(tagging('\0'))
  const { error, undo } = await run(t, service, intents, { client, areAlike: true })
  t.match(error, { status: 400 })
  t.same(undo, [])
  t.ok(proxy.requests.length <= 10, `${proxy.requests.length} requests`)
})
