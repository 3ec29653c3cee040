import t, { type Test } from 'tap'
import { deliver, type Intent } from '../../page/changes/delivery.ts'
import { importPlants } from '../../src/transfer/import.ts'
import {
  answered,
  connectThrough,
  type Fault,
  lostResponse,
  passed,
  thrownBy,
} from '../client/faulty-proxy.ts'
import { type Service, startService } from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const alba = { name: 'Abies alba', tag: 'Tree' }
const acer = { name: 'Acer' }
const done = { kind: 'done', plant: alba }
const undoOf = (id: bigint) => ({ undo: { id, before: alba, after: acer } })

let latest = 0n

/** Stores a plant under an id that no other test uses. */
async function store(plant?: { name: string; tag?: string }): Promise<bigint> {
  latest += 1n
  if (plant) await importPlants(service.store, [{ ...plant, id: latest }], 'stop')
  return latest
}

async function send(t: Test, intent: Intent, faults: Fault[] = [], canRead = true) {
  const { client, proxy } = await connectThrough(t, service, faults, { retries: 1 })
  const outcome = deliver(client, intent, canRead)
  return { outcome, requests: () => proxy.requests.map(({ line }) => line.split(' ')[0]) }
}

t.test('a token that cannot read learns that the id is taken', async (t) => {
  const id = await store(acer)
  const { outcome } = await send(t, { id, before: undefined, after: alba }, [], false)
  t.match(await thrownBy(outcome), { condition: 'plant-exists' })
})

t.test('a plant is replaced', async (t) => {
  const id = await store(acer)
  const { outcome, requests } = await send(t, { id, before: acer, after: alba })
  t.strictSame(await outcome, { ...done, ...undoOf(id) })
  t.same(requests(), ['GET', 'PATCH'])
  t.match(await service.stored(id), alba)
})

t.test('a change whose response is lost is recognized', async (t) => {
  const id = await store(acer)
  const faults = [passed, lostResponse]
  const replaced = await send(t, { id, before: acer, after: alba }, faults)
  t.strictSame(await replaced.outcome, { ...done, ...undoOf(id) })
  t.same(replaced.requests(), ['GET', 'PATCH', 'PATCH', 'GET'])
})

t.test('a plant that comes and goes is tried a few times', async (t) => {
  const id = await store()
  const exists = answered(
    409,
    { 'content-type': 'application/json' },
    '{"error":40901,"message":"x"}',
  )
  const some = await send(t, { id, before: undefined, after: alba }, [exists, passed])
  t.same(await some.outcome, done)
  const other = await store()
  const always = Array.from({ length: 4 }, () => [exists, passed]).flat()
  const { outcome } = await send(t, { id: other, before: undefined, after: alba }, always)
  t.match(await thrownBy(outcome), { condition: 'plant-exists' })
})
