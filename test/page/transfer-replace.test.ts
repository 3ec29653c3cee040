import t, { type Test } from 'tap'
import { createClient } from '../../client/client.ts'
import { FileProblem } from '../../page/transfer/file/file-kind.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { connectThrough, type Fault, passed } from '../client/faulty-proxy.ts'
import { type Service, startService } from '../helpers/service.ts'
import { importAll, named, TAKEN, type Values } from './imports.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const CHANGED = 'Somebody has changed this plant meanwhile'
const DELETED = 'Somebody has deleted this plant meanwhile'

/** Replaces plants that the person has seen. */
function replaceAll(
  t: Test,
  plants: readonly Values[],
  options: Parameters<typeof importAll>[3] = {},
) {
  return importAll(t, service, plants, { onConflict: 'replace', ...options })
}

t.test('plants that the person has seen are replaced, and others are created', async (t) => {
  const seen = [...named('Abies', 1, 450), { id: 451n, name: 'Acer', tag: 'Tree' }]
  await importPlants(service.store, seen, 'stop')
  const plants = named('Alnus', 1, 2000)
  t.match(await replaceAll(t, plants, { seen }), { created: 1549, replaced: 451, unchanged: 0 })
  t.equal(await service.count('Alnus'), 2000)
  t.strictSame((await createClient(service).getPlant(451n)).plant, plants[450])
  t.match(await replaceAll(t, plants, { seen }), { created: 0, replaced: 0, unchanged: 2000 })
})

t.test('plants that the comparison has found stored are not sent', async (t) => {
  const stored = named('Acer', 2501, 2)
  await importPlants(service.store, stored, 'stop')
  const { client, proxy } = await connectThrough(t, service)
  const result = await replaceAll(t, stored, { client, same: [1, 2] })
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
  const { created, replaced, refused } = await replaceAll(t, plants, { seen })
  t.same({ created, replaced }, { created: 0, replaced: 3 })
  t.strictSame(refused, [
    [6, TAKEN, { id: 3006n, name: 'of others' }],
    [1, CHANGED, { id: 3001n, name: 'of others' }],
    [2, DELETED, undefined],
  ])
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
  const plants = named('Cornus', 4001, 4)
  const { replaced, unchanged, refused } = await replaceAll(t, plants, { seen, client })
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
  const { replaced, unchanged, refused } = await replaceAll(t, [...plants, ...repeated], { seen })
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

for (const scopes of [['read', 'write'], ['write']] as const) {
  t.test(`an import with the scopes ${scopes} can stop at a conflict`, async (t) => {
    const start = 9001 + 1000 * scopes.length
    const token = await service.issueToken(`stop ${scopes}`, [...scopes])
    const client = createClient({ url: service.url, token })
    await importPlants(service.store, named('Nerium', start + 700, 2), 'stop')
    const { error, created, refused } = await importAll(t, service, named('Olea', start, 900), {
      client,
      canRead: scopes.length === 2,
      onConflict: 'stop',
    })
    t.same(error, new FileProblem('A row has the id of a different plant.'))
    t.match(refused, [[701]])
    t.equal(created, 700)
    t.match(await service.stored(BigInt(start + 699)), { name: 'Olea' })
  })
}
