/** Runs of changes that lose requests and responses. `interleavings/` tests them among others, and canceled ones. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { createClient, ServiceError, type StoredPlant } from '../../../client/client.ts'
import { save } from '../../../page/changes/change-run.ts'
import type { Intent } from '../../../page/changes/intent.ts'
import {
  answered,
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
} from '../../client/faulty-proxy.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
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

t.test('plants whose addition was lost count as added', async (t) => {
  const intents = named('Alnus', 500, 3).map(adding)
  const { counts, undo, unknown } = await runThrough(t, [lostResponse], intents)
  t.same(counts, { ...NOTHING, created: 3 })
  t.same([undo.map(({ id }) => id).sort(), unknown], [[500n, 501n, 502n], 0])
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

for (const { what, faults, id } of [
  { what: 'a lost response', faults: [passed, lostResponse], id: 900n },
  { what: 'a busy service', faults: [passed, answered(503), answered(503)], id: 901n },
]) {
  t.test(`a plant that others have changed is changed after ${what}`, async (t) => {
    const seen = { id, name: 'Cornus', tag: 'Tree' }
    const theirs = { ...seen, tag: 'Shrub' }
    await store(service, [theirs])
    const intents = [renaming('Corylus')(seen)]
    const renamed = await runThrough(t, [passed, passed, ...faults], intents)
    t.same(renamed.counts, { ...NOTHING, changed: 1 })
    await run(t, service, renamed.undo)
    t.strictSame(await storedPlants([id]), [theirs])
  })
}

t.test(
  'what others do after a lost request, which was looked for, is not taken back',
  async (t) => {
    const [seen] = named('Cydonia', 940, 1)
    await store(service, [seen as StoredPlant])
    const rename = (name: string, tag?: string) => () =>
      store(service, [{ id: 940n, name, ...(tag && { tag }) }])
    const faults = [lost, after(rename('theirs')), passed, after(rename('theirs too', 'Tree'))]
    const { counts, undo } = await runThrough(t, faults, [tagging('Tree')(seen as StoredPlant)])
    t.same([counts, undo], [{ ...NOTHING, unchanged: 1 }, []])
  },
)

t.test('a plant that comes and goes is tried a few times', async (t) => {
  const json = { 'content-type': 'application/json' }
  const exists = answered(409, json, '{"error":40901,"message":"x"}')
  for (const [id, times, outcome] of [
    [950n, 1, { kind: 'done', plant: { name: 'Abies' } }],
    [951n, 4, { condition: 'plant-exists' }],
  ] as const) {
    const faults = Array.from({ length: times }, () => [exists, passed]).flat()
    const { client } = await connectThrough(t, service, faults, { retries: 1 })
    const saved = save(client, { id, before: undefined, after: { name: 'Abies' } }, true)
    t.match(await saved.catch((error) => error), outcome)
  }
})

/** Never responds, and cancels the run. */
function canceling(controller: AbortController): Fault {
  return async ({ response }) => {
    controller.abort(new Error('canceled'))
    await once(response, 'close')
  }
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
  const faults = [lostResponse, after(change), canceling(controller)]
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

t.test('what the service has not done is not taken back', async (t) => {
  const plants = named('Ulmus', 30_001, 3)
  await store(service, plants)
  const token = await service.issueToken('read only', ['read'])
  const client = createClient({ url: service.url, token })
  const canceled = new Error('canceled')
  const changePlants = () => Promise.reject(new ServiceError('plant-changed', 'changed'))
  for (const [each, error, refusals] of [
    [client, canceled, 0],
    [clientWith(client, { changePlants }), undefined, 3],
  ] as const) {
    const onFailure = () => Promise.reject(canceled)
    const result = await run(t, service, plants.map(removing), { client: each, onFailure })
    t.match(result, { undo: [], counts: NOTHING, error })
    t.equal(result.refused.length, refusals)
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
