import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createClient } from '../../client/client.ts'
import { FileProblem } from '../../page/transfer/file/file-kind.ts'
import { importPlants } from '../../src/transfer/import.ts'
import {
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
  silence,
} from '../client/faulty-proxy.ts'
import { type Service, startService } from '../helpers/service.ts'
import { importAll, named, TAKEN } from './imports.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

t.test('records are created in batches, and importing them again changes nothing', async (t) => {
  const records = named('Abies', 1, 2500)
  const { progress } = await importAll(t, service, records)
  t.same(
    progress.map(({ created }) => created),
    [500, 1000, 1500, 2000, 2500, 2500],
  )
  t.equal(await service.count('Abies'), 2500)
  t.match(await importAll(t, service, records), { created: 0, unchanged: 2500, refused: [] })
})

t.test('invalid records are refused, and the others are created', async (t) => {
  const result = await importAll(t, service, [
    { id: 5001n, name: 'Acer' },
    { name: 'Acer' },
    { id: 5002n },
    { id: 5003n, name: 'Acer', tag: '' },
  ])
  t.match(result, {
    created: 2,
    refused: [
      [2, 'The id is missing'],
      [3, 'The name is missing'],
    ],
  })
  t.match(await service.stored(5003n), { tag: '' })
})

t.test('stored plants stay as they are, and both contents are reported', async (t) => {
  const taken = [6003n, 6500n, 7999n]
  const stored = taken.map((id) => ({ id, name: 'Alnus', tag: 'stored' }))
  await importPlants(service.store, [...stored, { id: 6001n, name: 'Betula' }], 'stop')
  const { created, unchanged, refused } = await importAll(t, service, named('Betula', 6001, 2000))
  t.same({ created, unchanged }, { created: 1996, unchanged: 1 })
  t.same(
    refused,
    stored.map((plant) => [Number(plant.id - 6000n), TAKEN, plant]),
  )
  t.match(await service.stored(6500n), { name: 'Alnus' })
})

t.test('the first record with an id wins', async (t) => {
  const first = { id: 9001n, name: 'Carex' }
  const stored = { id: 9002n, name: 'Alnus' }
  await importPlants(service.store, [stored], 'stop')
  const records = [first, first, { id: 9001n, name: 'Cedrus' }, { id: 9002n, name: 'Cedrus' }]
  const far = [...named('Cornus', 10_001, 1000), { id: 9001n, name: 'Corylus' }, stored]
  const { created, unchanged, refused } = await importAll(t, service, [...records, ...far])
  t.same({ created, unchanged }, { created: 1001, unchanged: 2 })
  t.same(refused, [
    [3, TAKEN, first],
    [4, TAKEN, stored],
    [1005, TAKEN, first],
  ])
})

t.test('with a token that cannot read, conflicts are found without their contents', async (t) => {
  const token = await service.issueToken('write', ['write'])
  const taken = [12_000n, 12_400n, 12_401n]
  await importPlants(
    service.store,
    taken.map((id) => ({ id, name: 'Alnus' })),
    'stop',
  )
  const client = createClient({ url: service.url, token })
  const options = { client, canRead: false }
  const { created, refused } = await importAll(t, service, named('Daphne', 12_000, 700), options)
  t.equal(created, 697)
  t.same(
    refused,
    taken.map((id) => [Number(id) - 11_999, TAKEN, undefined]),
  )
})

t.test('a plant that the service refuses does not stop the others', async (t) => {
  const records = named('Erica', 14_000, 7).with(3, { id: 14_003n, name: 'e'.repeat(2 ** 20) })
  const { created, refused } = await importAll(t, service, records)
  t.equal(created, 6)
  t.match(refused, [[4, /^The service refuses the plant: .*1048576 bytes/, undefined]])
})

for (const { when, faults, created, refused } of [
  { when: 'before the conflicts are looked up', faults: [], created: 1, refused: [2, 3] },
  { when: 'after that', faults: [passed], created: 0, refused: [1, 3, 2] },
]) {
  t.test(`plants that others create and delete ${when} are noticed`, async (t) => {
    const [removed, added, kept] = [15_001n, 15_002n, 15_003n]
    for (const id of [removed, added, kept]) {
      await service.call({ method: 'DELETE', path: `/plants/${id}` })
    }
    const stored = [removed, kept].map((id) => ({ id, name: 'Alnus' }))
    await importPlants(service.store, stored, 'stop')
    const race: Fault = (exchange) => {
      const forward = async () => {
        const answer = await exchange.forward()
        await service.call({ method: 'DELETE', path: `/plants/${removed}` })
        await importPlants(service.store, [{ id: added, name: 'Alnus' }], 'stop')
        return answer
      }
      return passed({ ...exchange, forward })
    }
    const { client } = await connectThrough(t, service, [...faults, race])
    const result = await importAll(t, service, named('Fagus', 15_001, 3), { client })
    t.equal(result.created, created)
    t.same(
      result.refused.map(([number]) => number),
      refused,
    )
  })
}

t.test('an import continues after a failure, and nothing is lost', async (t) => {
  const records = named('Ginkgo', 16_001, 1500)
  await importPlants(service.store, named('Alnus', 16_001, 1), 'stop')
  const { client, proxy } = await connectThrough(t, service, [lost], { retries: 0 })
  const failures: string[] = []
  const onFailure = async (error: unknown) => {
    failures.push((error as Error).name)
    // Next, a lost request for the stored plants, and a lost response.
    if (failures.length === 1) proxy.faults = [passed, lost]
    if (failures.length === 2) proxy.faults = [passed, passed, lostResponse]
  }
  const result = await importAll(t, service, records, { client, onFailure })
  t.same(failures, ['ConnectionError', 'ConnectionError', 'ConnectionError'])
  t.equal(result.created + result.unchanged, 1499)
  t.equal(result.refused.length, 1)
  t.equal(await service.count('Ginkgo'), 1499)
})

t.test('a canceled import keeps what is stored', async (t) => {
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('canceled')
  const onProgress = () => controller.abort(reason)
  const { error } = await importAll(t, service, named('Ilex', 18_001, 2500), { signal, onProgress })
  t.equal(error, reason)
  t.equal(await service.count('Ilex'), 500)
})

t.test('canceling ends a request that hangs', async (t) => {
  for (const faults of [[silence], [passed, silence]]) {
    const controller = new AbortController()
    const { signal } = controller
    await importPlants(service.store, named('Alnus', 19_001, 1), 'keep')
    const { client, proxy } = await connectThrough(t, service, faults)
    const reason = new Error('canceled')
    const run = importAll(t, service, named('Juglans', 19_001, 1), { client, signal })
    while (proxy.requests.length < faults.length) await setTimeout(1)
    controller.abort(reason)
    t.equal((await run).error, reason)
  }
})

t.test('records before the one at which a file is malformed are imported', async (t) => {
  const end = new FileProblem('Line 3 has a quote.')
  const { error, created } = await importAll(t, service, named('Larix', 20_001, 2), { end })
  t.equal(error, end)
  t.equal(created, 2)
})

t.test('large plants are sent in small batches', async (t) => {
  const { client, proxy } = await connectThrough(t, service)
  const records = named('Malus', 21_001, 5).map((plant) => ({ ...plant, tag: 'm'.repeat(2 ** 19) }))
  t.equal((await importAll(t, service, records, { client })).created, 5)
  t.equal(proxy.requests.length, 5)
})
