/** What an import adds to a run of changes, which `changes/` tests. */
import t from 'tap'
import { createClient } from '../../../client/client.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { connectThrough, lostResponse } from '../../client/faulty-proxy.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { named } from '../changes/run.ts'
import { importAll, TAKEN } from './imports.ts'

const CHANGED = 'Somebody has changed this plant meanwhile'
const DELETED = 'Somebody has deleted this plant meanwhile'

let service: Service
t.before(async () => {
  service = await startService(t)
})

t.test('records are created in batches, and importing them again changes nothing', async (t) => {
  const records = named('Abies', 1, 600)
  const { client } = await connectThrough(t, service, [lostResponse], { retries: 0 })
  const failures: string[] = []
  const onFailure = async ({ name }: { name?: string }) => void failures.push(String(name))
  const options = { client, onFailure: onFailure as (error: unknown) => Promise<void> }
  const { progress } = await importAll(t, service, records, options)
  t.same(
    progress.map(({ created }) => created),
    [500, 600],
  )
  t.same(failures, ['ConnectionError'])
  t.equal(await service.count('Abies'), 600)
  t.match(await importAll(t, service, records), { created: 0, unchanged: 600, refused: [] })
})

t.test('records without a plant, and those whose id is taken, are refused', async (t) => {
  const stored = { id: 5002n, name: 'Alnus', tag: 'stored' }
  await importPlants(service.store, [stored], 'stop')
  const first = { id: 5001n, name: 'Acer', tag: '' }
  const records = [first, { name: 'Acer' }, { id: 5003n }, { id: 5002n, name: 'Acer' }]
  const repeated = [first, { id: 5001n, name: 'Betula' }, stored]
  const result = await importAll(t, service, [...records, ...repeated])
  t.match(result, { created: 1, unchanged: 2 })
  t.strictSame(
    result.refused.toSorted(([one], [other]) => one - other),
    [
      [2, 'The id is missing', undefined],
      [3, 'The name is missing', undefined],
      [4, TAKEN, stored],
      [6, TAKEN, first],
    ],
  )
  t.match(await service.stored(5001n), { tag: '' })
  t.match(await service.stored(5002n), { name: 'Alnus' })
})

t.test('a canceled import keeps what is stored', async (t) => {
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('canceled')
  const onProgress = () => controller.abort(reason)
  const { error } = await importAll(t, service, named('Ilex', 6001, 600), { signal, onProgress })
  t.equal(error, reason)
  t.equal(await service.count('Ilex'), 500)
})

t.test('records before the one at which a file is malformed are imported', async (t) => {
  const end = new FileProblem('Line 3 has a quote.')
  const { error, created } = await importAll(t, service, named('Larix', 8001, 2), { end })
  t.equal(error, end)
  t.equal(created, 2)
})

t.test('plants that the person has seen are replaced by the first record', async (t) => {
  const seen = [...named('Abutilon', 10_001, 5), { id: 10_006n, name: 'Acer', tag: 'Tree' }]
  const same = { id: 10_009n, name: 'Cornus' }
  await importPlants(service.store, [...seen, same], 'stop')
  const client = createClient(service)
  await client.replacePlant(10_001n, { name: 'of others' })
  await client.deletePlant(10_002n)
  await client.createPlants([{ id: 10_007n, name: 'of others' }])
  const records = [...named('Cornus', 10_001, 9), { id: 10_006n, name: 'Fagus' }]
  const options = { onConflict: 'replace', seen, same: [9] } as const
  const { created, replaced, unchanged, refused } = await importAll(t, service, records, options)
  t.same({ created, replaced, unchanged }, { created: 1, replaced: 4, unchanged: 1 })
  t.strictSame(
    refused.toSorted(([one], [other]) => one - other),
    [
      [1, CHANGED, { id: 10_001n, name: 'of others' }],
      [2, DELETED, undefined],
      [7, TAKEN, { id: 10_007n, name: 'of others' }],
      [10, TAKEN, { id: 10_006n, name: 'Cornus' }],
    ],
  )
  t.strictSame((await client.getPlant(10_006n)).plant, { id: 10_006n, name: 'Cornus' })
})

t.test('plants that the comparison has found stored are not sent', async (t) => {
  const stored = named('Alcea', 11_001, 2)
  await importPlants(service.store, stored, 'stop')
  const { client, proxy } = await connectThrough(t, service)
  const result = await importAll(t, service, stored, { client, same: [1, 2] })
  t.match(result, { created: 0, replaced: 0, unchanged: 2, refused: [] })
  t.same(proxy.requests, [])
})

for (const scopes of [['read', 'write'], ['write']] as const) {
  t.test(`an import with the scopes ${scopes} can stop at a conflict`, async (t) => {
    const start = 20_001 + 1000 * scopes.length
    const token = await service.issueToken(`stop ${scopes}`, [...scopes])
    const client = createClient({ url: service.url, token })
    await importPlants(service.store, named('Nerium', start + 550, 2), 'stop')
    const { error, created, refused } = await importAll(t, service, named('Olea', start, 600), {
      client,
      canRead: scopes.length === 2,
      onConflict: 'stop',
    })
    t.same(error, new FileProblem('A row has the id of a different plant.'))
    t.match(refused, [[551]])
    t.equal(created, 550)
    t.match(await service.stored(BigInt(start + 549)), { name: 'Olea' })
  })
}

t.test('an import stops at a conflict before the record that is malformed', async (t) => {
  await importPlants(service.store, named('Nerium', 30_002, 1), 'stop')
  const end = new FileProblem('Line 4 has a quote.')
  const options = { onConflict: 'stop', end } as const
  const { error, created } = await importAll(t, service, named('Olea', 30_001, 3), options)
  t.same(error, new FileProblem('A row has the id of a different plant.'))
  t.equal(created, 1)
})
