import t from 'tap'
import { createClient } from '../../../client/client.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'
import { NUMBERED, numberFile } from '../../../page/transfer/file/numbering.ts'
import { connectThrough } from '../../client/faulty-proxy.ts'
import { mappingOf } from '../../core/files/mapping.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { startService } from '../../helpers/service/service.ts'
import { plantMapper } from './imports.ts'

const MAPPING = mappingOf({ id: NUMBERED, name: '0' })

/** The ids of a file with some records. */
async function idsOf(file: ReturnType<typeof numberFile>): Promise<unknown[]> {
  const toPlant = plantMapper(MAPPING, file.format)
  return Array.fromAsync(file.records(), (record) => {
    const plant = toPlant(record)
    return typeof plant === 'string' ? plant : plant.id
  })
}

function open(records: number) {
  return openFile(new File([`name\n${'Abies\n'.repeat(records)}`], 'plants.csv'))
}

t.test('records get free ids, and keep them', async (t) => {
  const service = await startService(t)
  const stored = [-3n, 2n, 3n, 5n].map((id) => ({ id, name: 'Acer' }))
  await importPlants(service.store, stored, 'stop')
  const client = createClient(service)
  const file = numberFile(await open(4), 1n, client)
  t.same(await idsOf(file), [1n, 4n, 6n, 7n])
  await client.createPlants([4n, 6n].map((id) => ({ id, name: 'Abies' })))
  t.same(await idsOf(file), [1n, 4n, 6n, 7n], 'whatever is created in the meantime')
  t.same(await idsOf(numberFile(await open(3), -(2n ** 63n), client)), [
    -(2n ** 63n),
    -(2n ** 63n) + 1n,
    -(2n ** 63n) + 2n,
  ])
})

t.test('records beyond the greatest id are refused', async (t) => {
  t.match(await idsOf(numberFile(await open(2), 2n ** 63n - 1n, undefined)), [
    2n ** 63n - 1n,
    /^The id must be between/,
  ])
})

t.test('records of JSON are numbered too', async (t) => {
  const file = await openFile(new File(['[{"0":"Abies"},{"0":"Acer"}]'], 'plants.json'))
  t.same(await idsOf(numberFile(file, 7n, undefined)), [7n, 8n])
})

t.test('no more plants are read than the ids need', async (t) => {
  const service = await startService(t)
  const stored = Array.from({ length: 3000 }, (_, index) => ({ id: BigInt(index), name: 'Acer' }))
  await importPlants(service.store, [...stored, { id: 10_000n, name: 'Acer' }], 'stop')
  const { client, proxy } = await connectThrough(t, service)
  t.same(await idsOf(numberFile(await open(2), 990n, client)), [3000n, 3001n])
  t.equal(proxy.requests.length, 3)
  await idsOf(numberFile(await open(2), 10_001n, client))
  t.equal(proxy.requests.length, 4)
})
