/** Imports whose rows are matched with plants by another value than the id. */
import t, { type Test } from 'tap'
import { createClient, type NewPlant } from '../../../client/client.ts'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { known } from '../../../core/known.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { members } from '../../../page/model/current-members.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'
import { matchFile } from '../../../page/transfer/file/matching.ts'
import { connectThrough, type Fault, passed } from '../../client/faulty-proxy.ts'
import { startService } from '../../helpers/service/service.ts'
import { describeService } from '../own-fields/nursery.ts'
import { compareText, importText, storedPlants } from './imports-of-files.ts'

/** The fields of a collection. Its plants can be sorted by the accession number. */
const FIELDS: readonly OwnField[] = [
  { name: 'accession', schema: { type: 'string', 'x-sortable': true } },
  { name: 'label', schema: { type: 'integer', format: 'int64' } },
  { name: 'seen', schema: { type: 'string', format: 'date-time' } },
]

async function start(t: Test) {
  const service = await startService(t, { fields: FIELDS })
  describeService(t, extendContract(loadContract(), FIELDS))
  while (await service.store.indexPlants());
  const { url, token } = service
  const client = createClient({ url, token, int64Fields: ['label'] })
  const add = (...plants: readonly (NewPlant & { readonly accession?: string })[]) =>
    client.createPlants(plants)
  return { service, client, add }
}

const by = 'accession'

t.test(
  'rows find their plants, others get free ids, and a second import changes nothing',
  async (t) => {
    const { service, client, add } = await start(t)
    await add(
      { id: 7n, name: 'Abies', tag: 'Tree', accession: 'A-1' },
      { id: 9n, name: 'Acer', accession: 'A-2' },
      { id: 11n, name: 'Alnus' },
    )
    const text =
      'accession,name\nA-2,Acer rubrum\nB-1,Betula\nA-1,Abies\nB-2,\n,Carex\nB-3,Cedrus\n'
    const { fates, counts, refused } = await importText(service, text, { by, client })
    t.match(fates, { new: 2, different: 1, same: 1, refused: 2 })
    t.same(counts, { created: 2, changed: 1, unchanged: 1 })
    t.same(refused, [
      [5, 'The name is missing'],
      [6, 'The accession is missing'],
    ])
    const plants = [
      { id: 7n, name: 'Abies', tag: 'Tree', accession: 'A-1' },
      { id: 9n, name: 'Acer rubrum', accession: 'A-2' },
      { id: 11n, name: 'Alnus' },
      { id: 12n, name: 'Betula', accession: 'B-1' },
      { id: 14n, name: 'Cedrus', accession: 'B-3' },
    ]
    t.strictSame(await storedPlants(service), plants)
    const again = await importText(service, text, { by, client })
    t.match(again, { fates: { new: 0, different: 0, same: 4 }, counts: { created: 0, changed: 0 } })
    t.strictSame(await storedPlants(service), plants)
  },
)

t.test('a value of several plants or rows is refused, and both are named', async (t) => {
  const { service, client, add } = await start(t)
  await add(
    { id: 1n, name: 'Abies', accession: 'A-1' },
    { id: 2n, name: 'Acer', accession: 'A-1' },
    { id: 3n, name: 'Alnus', accession: 'A-2' },
  )
  const text = 'accession,name\nA-1,x\nA-2,x\nA-3,x\nA-2,y\n'
  const { refused, counts } = await importText(service, text, { by, client })
  t.same(refused, [
    [2, 'The accession is that of the plants 1 and 2'],
    [3, 'The accession is also in line 5'],
    [5, 'The accession is also in line 3'],
  ])
  t.same(counts, { created: 1, changed: 0, unchanged: 0 })
})

for (const { key, stored, found } of [
  { key: 'label', stored: 2n ** 60n + 1n, found: '1152921504606846977' },
  { key: 'seen', stored: '2026-03-21T12:00:00Z', found: '2026-03-21T14:00:00+02:00' },
  { key: 'name', stored: 'Abies, alba', found: '"Abies, alba"' },
  { key: 'accession', stored: 'x'.repeat(7000), found: 'x'.repeat(7000) },
]) {
  t.test(`rows are matched by ${key}, with the requests that it permits`, async (t) => {
    const { service, client } = await start(t)
    await client.createPlants([{ id: 5n, name: 'Acer', [key]: stored }])
    const text = `${key},tag\n${found},Tree\n`
    const { counts } = await importText(service, text, { by: key, client })
    t.match(counts, { created: 0, changed: 1 })
    t.match(await service.stored(5n), { tag: 'Tree' })
  })
}

t.test('with an index, requests depend on the file, and otherwise on the store', async (t) => {
  const { service, client } = await start(t)
  const accessionOf = (index: number) => `A-${String((index * 7919) % 3000).padStart(4, '0')}`
  await client.createPlants(
    Array.from({ length: 3000 }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index}`,
      accession: accessionOf(index),
    })),
  )
  const { client: counted, proxy } = await connectThrough(t, service)
  const rows = Array.from({ length: 450 }, (_, index) => `${accessionOf(index)},Abies ${index}\n`)
  const text = `accession,name\n${rows.join('')}`
  const compared = await compareText(service, text, { by, client: counted })
  t.equal(compared.comparison.whole.same.size, 450)
  const lists = proxy.requests.filter(({ line }) => line.includes('is.accession'))
  t.equal(lists.length, 3)
  t.ok(lists.every(({ line }) => line.includes('sort=accession')))
  t.equal(proxy.requests.length, 4, 'what was found is not read again')
  await compareText(service, text, { by: 'name', client: counted })
  t.equal(proxy.requests.length, 8, 'pages of 1000 plants, and the last id')
})

t.test('two imports at the same time get ids of their own', async (t) => {
  const { service, client } = await start(t)
  const textOf = (prefix: string, count: number) => {
    const rows = Array.from({ length: count }, (_, index) => `${prefix}-${index},${prefix}\n`)
    return `accession,name\n${rows.join('')}`
  }
  const between = async () => {
    const { counts } = await importText(service, textOf('B', 700), { by, client })
    t.same(counts, { created: 700, changed: 0, unchanged: 0 })
  }
  const result = await importText(service, textOf('A', 1200), { by, client, between })
  t.match(result, { counts: { created: 1200 }, refused: [], undo: { length: 1200 } })
  const plants = await storedPlants(service)
  t.same(
    plants.map(({ id }) => id),
    Array.from({ length: 1900 }, (_, index) => BigInt(index + 1)),
  )
  const again = await importText(service, textOf('A', 1200), { by, client })
  t.match(again, { counts: { created: 0, unchanged: 1200 } })
})

for (const { canRead, onConflict } of [
  { canRead: true, onConflict: 'update' },
  { canRead: false, onConflict: 'keep' },
  { canRead: false, onConflict: 'stop' },
] as const) {
  t.test(`numbered rows take the next free id, read: ${canRead}, ${onConflict}`, async (t) => {
    const { service, client } = await start(t)
    const between = async () => client.createPlants([2n, 4n].map((id) => ({ id, name: 'others' })))
    const text = 'name\nAbies\nAcer\nAlnus\n'
    const options = { from: 1n, client, canRead, onConflict, between }
    const result = await importText(service, text, options)
    t.match(result, { counts: { created: 3 }, refused: [], undo: { length: 3 } })
    const plants = await storedPlants(service)
    t.same(
      plants.map(({ id, name }) => `${id} ${name}`),
      ['1 Abies', '2 others', '3 Alnus', '4 others', '5 Acer'],
    )
  })
}

t.test('a row that may have been added is not added twice', async (t) => {
  const { service } = await start(t)
  const addThenChange: Fault = async (exchange) => {
    await exchange.forward()
    await createClient(service).updatePlant(1n, { name: 'of others' })
    exchange.cut()
  }
  const faults = [passed, passed, addThenChange]
  const { client } = await connectThrough(t, service, faults, { retries: 0 })
  const options = { from: 1n, client, onFailure: async () => {} }
  const { refused } = await importText(service, 'name\nAbies\n', options)
  t.same(refused, [[2, 'A different plant has this id', { id: 1n, name: 'of others' }]])
  t.equal(await service.count(), 1)
})

t.test('an import that keeps plants does not number the rows of those', async (t) => {
  const { service, client, add } = await start(t)
  await add({ id: 1n, name: 'Abies', accession: 'A-1' })
  const text = 'accession,name\nA-1,Acer\nA-2,Acer\n'
  const { counts, refused } = await importText(service, text, { by, client, onConflict: 'keep' })
  t.match(counts, { created: 1, changed: 0 })
  t.match(refused, [[2, 'A different plant has this id', { id: 1n }]])
})

t.test('matching is bounded in memory, and ends when it is canceled', async (t) => {
  const { client } = await start(t)
  const file = await openFile(new File(['accession,name\nA-1,x\nA-2,y\n'], 'plants'))
  const member = known(members.find(({ name }) => name === by))
  const controller = new AbortController()
  const { signal } = controller
  const match = (memoryMax: number) =>
    matchFile(file, file.guess, member, { client, signal, memoryMax })
  await match(206)
  await t.rejects(match(205), new FileProblem('The file has too many rows. Split it.'))
  const reason = new Error('canceled')
  controller.abort(reason)
  await t.rejects(match(1000), reason)
})
