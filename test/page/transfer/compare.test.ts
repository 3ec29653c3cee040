import t from 'tap'
import { createClient } from '../../../client/client.ts'
import {
  type ComparisonOptions,
  compareRecords,
} from '../../../page/transfer/import/file-comparison.ts'
import { connectThrough, passed, silence } from '../../client/faulty-proxy.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { named } from '../changes/run.ts'
import { read, recordsOf, type Values } from './imports.ts'
import { compareText } from './imports-of-files.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

async function compare(records: readonly Values[], options: Partial<ComparisonOptions> = {}) {
  const { whole, different } = await compareRecords(recordsOf(records), {
    client: createClient(service),
    canRead: true,
    read,
    counted: 'line',
    signal: new AbortController().signal,
    ...options,
  })
  const described = Object.entries(whole.groups).map(([fate, { count, examples }]) => [
    fate,
    [count, examples[0]?.record.number, examples[0]?.reason ?? examples[0]?.stored],
  ])
  return {
    ...Object.fromEntries(described),
    seen: different && [...different.values()],
    known: [...whole.same].sort(),
  }
}

t.test('a file is compared with the store, which stays as it is', async (t) => {
  const stored = [
    { id: 3n, name: 'Acer', tag: 'Tree' },
    { id: 4n, name: 'Abies' },
  ]
  await importPlants(service.store, stored, 'stop')
  const records = [
    { id: 2n },
    { id: 4n, name: 'Abies' },
    { id: 3n, name: 'Acer' },
    { id: 1n, name: 'Alnus' },
    { id: 1n, name: 'Alnus' },
    { id: 1n, name: 'Betula' },
  ]
  t.strictSame(await compare(records), {
    new: [1, 4, undefined],
    different: [1, 3, stored[0]],
    same: [2, 2, undefined],
    refused: [2, 1, 'The name is missing'],
    seen: [stored[0]],
    known: [2, 5],
  })
  t.equal(await service.count(), 2)
})

t.test('the first record is that of the file, in whatever order requests end', async (t) => {
  await importPlants(service.store, named('Carex', 10_001, 1500), 'stop')
  const second = Promise.withResolvers<void>()
  const { client, proxy } = await connectThrough(t, service, [
    async (exchange) => {
      await second.promise
      return passed(exchange)
    },
    async (exchange) => {
      await passed(exchange)
      second.resolve()
    },
  ])
  const { different, seen } = await compare(named('Cedrus', 10_001, 1500), { client })
  t.same(different, [1500, 1, { id: 10_001n, name: 'Carex' }])
  t.equal(seen.length, 1500)
  t.equal(proxy.requests.length, 8)
})

t.test('signs of damage are counted in all records', async (t) => {
  const rows = Array.from({ length: 300 }, (_, index) => `${index},Salix ${index}`)
  const text = `id,name,tag\n${rows.join('\n')}\n1.2E+15,Abies,\n300,Malus Ã— domestica,\n301,Rosa,BÃ¼sche\n`
  const { damage } = await compareText(service, text)
  t.match(damage, [
    /^Line 302: the id 1\.2E\+15 is in scientific notation/,
    /^Line 303: the name Malus Ã— domestica is garbled: .*\. So is 1 other value\.$/,
  ])
  t.equal(damage.length, 2)
  t.same((await compareText(service, 'id,name\n1,Abies\n')).damage, [])
})

t.test('a token that cannot read compares the records with each other', async (t) => {
  const token = await service.issueToken('write', ['write'])
  const client = createClient({ url: service.url, token })
  const records = [...named('Daphne', 20_001, 300), { id: 20_001n, name: 'Erica' }]
  t.match(await compare(records, { client, canRead: false }), {
    new: [300, 1],
    refused: [1, 301, 'The id is also in line 1, with other content'],
  })
})

t.test('memory is bounded', async (t) => {
  await importPlants(service.store, named('Fagus', 30_001, 10), 'stop')
  const records = named('Ginkgo', 30_001, 10)
  t.equal((await compare(records, { memoryMax: 1049 })).seen, undefined)
  t.equal((await compare(records, { memoryMax: 1050 })).seen.length, 10)
  const { same, different } = await compare([...records, ...records], { memoryMax: 500 })
  t.same([same[0], different[0]], [5, 15])
})

t.test('canceling ends a comparison, and its requests', async (t) => {
  const controller = new AbortController()
  const { client, proxy } = await connectThrough(t, service, [silence])
  const reason = new Error('canceled')
  const run = compare(named('Ilex', 50_001, 300), { client, signal: controller.signal })
  await until('both requests', async () => proxy.requests.length === 2)
  controller.abort(reason)
  await t.rejects(run, reason)
})
