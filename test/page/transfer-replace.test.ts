import t, { type Test } from 'tap'
import { type ChangeCounts, createClient, type StoredPlant } from '../../client/client.ts'
import { plantMapper } from '../../page/transfer/file/columns.ts'
import { FileProblem } from '../../page/transfer/file/file-kind.ts'
import {
  type ImportOptions,
  importRecords,
  type RefusedRecord,
} from '../../page/transfer/import/import-run.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { connectThrough, type Fault, lost, lostResponse, passed } from '../client/faulty-proxy.ts'
import { type Service, startService } from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const toPlant = plantMapper({ id: 'id', name: 'name', tag: 'tag' }, 'ndjson')

const CHANGED = 'Somebody has changed this plant meanwhile'
const DELETED = 'Somebody has deleted this plant meanwhile'
const TAKEN = 'A different plant has this id'

const named = (name: string, start: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: BigInt(start + index), name }))

async function* recordsOf(plants: readonly StoredPlant[]) {
  for (const [index, values] of plants.entries()) yield { number: index + 1, values }
}

/** Replaces plants that the person has seen, and checks that the counts add up. */
async function replaceAll(
  t: Test,
  plants: readonly StoredPlant[],
  seen: readonly StoredPlant[],
  options: Partial<ImportOptions> = {},
) {
  const refusals: RefusedRecord[] = []
  let counts: ChangeCounts | undefined
  await importRecords(recordsOf(plants), {
    client: createClient(service),
    canRead: true,
    toPlant,
    onConflict: 'replace',
    seen: { different: new Map(seen.map((plant) => [plant.id, plant])), same: new Set() },
    onChanged: async () => {},
    signal: new AbortController().signal,
    onRefused: (refusal) => refusals.push(refusal),
    onProgress: (progress) => {
      counts = progress
    },
    onFailure: (error) => Promise.reject(error),
    ...options,
  })
  const { created = 0, changed: replaced = 0, unchanged = 0 } = counts ?? {}
  t.equal(created + replaced + unchanged + refusals.length, plants.length)
  const refused = refusals.map(({ record: { number }, reason, stored }) => [number, reason, stored])
  return { created, replaced, unchanged, refused }
}

t.test('plants that the person has seen are replaced, and others are created', async (t) => {
  const seen = [...named('Abies', 1, 450), { id: 451n, name: 'Acer', tag: 'Tree' }]
  await importPlants(service.store, seen, 'stop')
  const plants = named('Alnus', 1, 2000)
  t.strictSame(await replaceAll(t, plants, seen), {
    created: 1549,
    replaced: 451,
    unchanged: 0,
    refused: [],
  })
  t.equal(await service.count('Alnus'), 2000)
  t.strictSame((await createClient(service).getPlant(451n)).plant, plants[450])
  t.match(await replaceAll(t, plants, seen), { created: 0, replaced: 0, unchanged: 2000 })
})

t.test('plants that the comparison has found stored are not sent', async (t) => {
  const stored = named('Acer', 2501, 2)
  await importPlants(service.store, stored, 'stop')
  const { client, proxy } = await connectThrough(t, service)
  const same = new Set([1, 2])
  const result = await replaceAll(t, stored, [], {
    client,
    seen: { different: undefined, same },
  })
  t.match(result, { created: 0, replaced: 0, unchanged: 2, refused: [] })
  t.same(proxy.requests, [])
})

t.test('a plant that others change after the comparison stays', async (t) => {
  const seen = named('Betula', 3001, 5)
  await importPlants(service.store, seen, 'stop')
  const client = createClient(service)
  await client.replacePlant(3001n, { name: 'of others' })
  await client.deletePlant(3002n)
  await client.createPlants([{ id: 3006n, name: 'of others' }])
  const plants = named('Carex', 3001, 6)
  const result = await replaceAll(t, plants, seen)
  t.strictSame(result, {
    created: 0,
    replaced: 3,
    unchanged: 0,
    refused: [
      [6, TAKEN, { id: 3006n, name: 'of others' }],
      [1, CHANGED, { id: 3001n, name: 'of others' }],
      [2, DELETED, undefined],
    ],
  })
})

t.test('a plant that others change just before it is replaced stays', async (t) => {
  const seen = named('Cedrus', 4001, 4)
  await importPlants(service.store, seen, 'stop')
  const race: Fault = async (exchange) => {
    const forward = async () => {
      await createClient(service).replacePlant(4001n, { name: 'of others' })
      await createClient(service).deletePlant(4002n)
      await createClient(service).replacePlant(4003n, { name: 'Cornus' })
      return exchange.forward()
    }
    return passed({ ...exchange, forward })
  }
  const { client, proxy } = await connectThrough(t, service, [race])
  const { replaced, unchanged, refused } = await replaceAll(t, named('Cornus', 4001, 4), seen, {
    client,
  })
  t.equal(proxy.requests[0]?.line, 'PATCH /plants')
  t.same({ replaced, unchanged }, { replaced: 1, unchanged: 1 })
  t.same(
    refused.map(([number, reason]) => [number, reason]),
    [
      [1, CHANGED],
      [2, DELETED],
    ],
  )
})

t.test('the first record with an id wins', async (t) => {
  const seen = named('Daphne', 5001, 201)
  await importPlants(service.store, seen, 'stop')
  const plants = named('Erica', 5001, 201)
  const repeated = [
    { id: 5001n, name: 'Erica' },
    { id: 5201n, name: 'Erica' },
    { id: 5201n, name: 'Fagus' },
    { id: 5001n, name: 'Fagus' },
  ]
  const { replaced, unchanged, refused } = await replaceAll(t, [...plants, ...repeated], seen)
  t.same({ replaced, unchanged }, { replaced: 201, unchanged: 2 })
  t.same(
    refused.map(([number, reason]) => [number, reason]),
    [
      [204, TAKEN],
      [205, TAKEN],
    ],
  )
  t.equal(await service.count('Erica'), 201)
})

t.test('an import continues after a failure, and each plant is counted once', async (t) => {
  const seen = named('Ginkgo', 6001, 2)
  await importPlants(service.store, seen, 'stop')
  const { client, proxy } = await connectThrough(t, service, [lost], { retries: 0 })
  const failures: string[] = []
  const onFailure = async (error: unknown) => {
    failures.push((error as Error).name)
    if (failures.length === 1) proxy.faults = [lostResponse]
  }
  const result = await replaceAll(t, named('Hedera', 6001, 2), seen, { client, onFailure })
  t.match(result, { replaced: 2, unchanged: 0, refused: [] })
  t.same(failures, ['ConnectionError', 'ConnectionError'])
})

t.test('a lost response is repeated, and the plants count as replaced', async (t) => {
  const seen = named('Ilex', 7001, 1)
  await importPlants(service.store, seen, 'stop')
  const { client } = await connectThrough(t, service, [lostResponse])
  t.match(await replaceAll(t, named('Juglans', 7001, 1), seen, { client }), { replaced: 1 })
})

t.test('a plant that the service refuses does not stop the others', async (t) => {
  const seen = named('Larix', 8001, 5)
  await importPlants(service.store, seen, 'stop')
  const plants = named('Malus', 8001, 5).with(2, { id: 8003n, name: 'm'.repeat(2 ** 20 - 50) })
  const { replaced, refused } = await replaceAll(t, plants, seen)
  t.equal(replaced, 4)
  t.match(refused, [[3, /^The service refuses the plant: /]])
})

for (const scopes of [['read', 'write'], ['write']] as const) {
  t.test(`an import with the scopes ${scopes} can stop at a conflict`, async (t) => {
    const start = 9001 + 1000 * scopes.length
    const token = await service.issueToken(`stop ${scopes}`, [...scopes])
    const client = createClient({ url: service.url, token })
    await importPlants(service.store, named('Nerium', start + 700, 2), 'stop')
    const refusals: number[] = []
    const progress: ChangeCounts[] = []
    const run = importRecords(recordsOf(named(`Olea ${scopes}`, start, 900)), {
      client,
      canRead: scopes.length === 2,
      toPlant,
      onConflict: 'stop',
      seen: { different: undefined, same: new Set() },
      onChanged: async () => {},
      signal: new AbortController().signal,
      onRefused: ({ record }) => refusals.push(record.number),
      onProgress: (counts) => progress.push(counts),
      onFailure: (error) => Promise.reject(error),
    })
    await t.rejects(run, new FileProblem('A row has the id of a different plant.'))
    t.same(refusals, [701])
    t.match(progress.at(-1), { created: 700 })
    t.equal(await service.count(`Olea ${scopes}`), 700)
  })
}
