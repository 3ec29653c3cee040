/** Own fields in files. */
import t from 'tap'
import type { NewPlant, PlantStoreClient } from '../../../client/client.ts'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { guessMapping } from '../../../core/files/columns.ts'
import { propertiesOf } from '../../../core/known.ts'
import { RefusedPlants } from '../../../page/changes/refused-plants.ts'
import { members } from '../../../page/model/current-members.ts'
import { exportPlants } from '../../../page/transfer/export-run.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'
import { fieldsOf } from '../../../page/transfer/file/plant-mapper.ts'
import { mappingOf } from '../../core/files/mapping.ts'
import { plantMapper } from '../transfer/imports.ts'
import { describeService, FIR } from './nursery.ts'

t.before(() => describeService(t))

/** The columns that are guessed for some members. */
function guess(names: readonly string[], ...of: readonly string[]): (string | undefined)[] {
  const columns = names.map((name, index) => ({ key: String(index), name, label: name }))
  const mapping = guessMapping(members, columns, [])
  return of.map((name) => columns.find(({ key }) => key === mapping[name]?.[0])?.name)
}

t.test('columns are guessed by name and title, in any case', async (t) => {
  const names = ['ID', 'name', 'HEIGHT IN CM', 'PLANTED', 'id2', ' in stock ', 'Constructor']
  const members = ['id', 'name', 'height', 'planted', 'id2', 'inStock', 'constructor', 'price']
  t.strictSame(guess(names, ...members), [...names, undefined])
})

t.test('an own field comes before what else a column could be', async (t) => {
  describeService(t, withField('family'))
  t.strictSame(guess(['Family', 'Group'], 'tag', 'family'), ['Group', 'Family'])
})

const ALL = mappingOf(Object.fromEntries(Object.keys(FIR).map((name) => [name, name])))
const base = { id: '4', name: 'Acer' }

for (const { format, values, result } of [
  {
    format: 'csv',
    values: { height: '12', price: ' 1.5', inStock: 'TRUE', id2: '-5', planted: '2026-03-21' },
    result: { height: 12, planted: '2026-03-21', price: 1.5, inStock: true, id2: -5n },
  },
  {
    format: 'csv',
    values: { height: '', planted: '', light: ' ', inStock: '', constructor: '' },
    result: { constructor: '' },
  },
  {
    format: 'csv',
    values: { price: '€ 12' },
    result: 'The price must be a number, written like 4 or -1.5',
  },
  {
    format: 'csv',
    values: { inStock: 'maybe' },
    result: 'The inStock must be true or false, yes or no, 1 or 0, or x',
  },
  {
    format: 'ndjson',
    values: { height: 12n, price: 3n, inStock: false, id2: 2n ** 60n, light: null },
    result: { height: 12, price: 3, inStock: false, id2: 2n ** 60n },
  },
  {
    format: 'csv',
    values: { planted: '21.3.2026' },
    result: 'The planted must be a date such as 2026-11-25, not "21.3.2026"',
  },
  {
    format: 'csv',
    values: { height: '10001' },
    result: 'The height must be a whole number from 0 to 10000, not "10001"',
  },
  {
    format: 'csv',
    values: { light: 'Sonne' },
    result: 'The light must be sun, half shade or shade, not "Sonne"',
  },
  { format: 'csv', values: { photo: 'x y' }, result: 'The photo must be a URI such as' },
  { format: 'ndjson', values: { price: -1n }, result: 'The price must be a number of at least 0' },
  { format: 'ndjson', values: { price: 0.5 }, result: { price: 0.5 } },
  {
    format: 'ndjson',
    values: { price: '0.5' },
    result: 'The price must be a number without quotes',
  },
  {
    format: 'ndjson',
    values: { price: 2n ** 53n + 1n },
    result: 'The price must have fewer digits',
  },
  {
    format: 'ndjson',
    values: { inStock: 'true' },
    result: 'The inStock must be true or false without quotes',
  },
  { format: 'ndjson', values: { inStock: 1n }, result: 'The inStock must be true or false' },
  { format: 'ndjson', values: { planted: 2026n }, result: 'The planted must be text' },
] as const) {
  t.test(`${format} with ${Object.keys(values)} of ${Object.values(values)}`, async (t) => {
    const id = format === 'csv' ? '4' : 4n
    const plant = plantMapper(ALL, format)({ number: 2, values: { ...base, id, ...values } })
    if (typeof result === 'string') t.match(plant, result)
    else t.strictSame(plant, { id: 4n, name: 'Acer', ...result })
  })
}

t.test('people and spreadsheets write true and false in several ways', async (t) => {
  const read = (inStock: string) =>
    propertiesOf(plantMapper(ALL, 'csv')({ number: 2, values: { ...base, inStock } })).inStock
  t.strictSame(['true', 'Yes', '1', 'x'].map(read), [true, true, true, true])
  t.strictSame(['FALSE', 'no', '0', ' '].map(read), [false, false, false, undefined])
})

t.test('a record or a mapping does not have what objects inherit', async (t) => {
  const record = { number: 2, values: { id: 4n, name: 'Acer' } }
  const plant = { id: 4n, name: 'Acer' }
  t.strictSame(plantMapper(ALL, 'json')(record), plant)
  t.same(Object.keys(plantMapper(ALL, 'json')(record)), Object.keys(plant))
  t.strictSame(plantMapper(mappingOf({ id: 'id', name: 'name' }), 'json')(record), plant)
})

const SMALL = { id: 8n, name: 'Acer' }

/** Reads the plants of a file as the page imports it. */
async function readPlants(content: Blob): Promise<unknown[]> {
  const file = await openFile(new File([content], 'plants'))
  const toPlant = plantMapper(file.guess, file.format)
  return Array.fromAsync(file.records(), toPlant)
}

for (const format of ['csv', 'ndjson'] as const) {
  t.test(`${format} has typed columns, and is read back equal`, async (t) => {
    const { signal } = new AbortController()
    const client = { listPlants: async () => ({ plants: [FIR, SMALL] }) }
    const options = { signal, onProgress: () => {} }
    const content = await exportPlants(client as unknown as PlantStoreClient, {}, format, options)
    t.strictSame(await readPlants(content), [FIR, SMALL])
  })
}

t.test('refused records have the columns of all members, and can be imported', async (t) => {
  const refused = new RefusedPlants('line')
  const values = { ...base, height: '1,5', inStock: 'x' }
  const stored = { ...FIR, id: 4n } as NewPlant
  const fields = fieldsOf({ number: 2, values }, ALL)
  refused.add({ number: 2, fields, reason: 'Taken', stored })
  const text = await refused.toFile().text()
  t.match(text, 'line,reason,id,name,tag,height,planted,light,photo,price,inStock,constructor,id2,')
  t.match(text, 'stored name,stored tag,stored height,')
  t.match(text, '\n2,Taken,4,Acer,,"1,5",,,,,x,,,Abies,Tree,120,2026-03-21,half shade,')
  const corrected = text.replace('"1,5"', '15')
  t.strictSame(await readPlants(new Blob([corrected])), [
    { id: 4n, name: 'Acer', height: 15, inStock: true },
  ])
})

t.test('own fields can have the names of the other columns of refused records', async (t) => {
  describeService(t, withField('reason'))
  const refused = new RefusedPlants('line')
  const mapping = mappingOf({ id: 'id', name: 'name', reason: 'reason' })
  const values = { ...base, reason: 'a gift' }
  const fields = fieldsOf({ number: 2, values }, mapping)
  refused.add({ number: 2, fields, reason: 'Taken' })
  t.match(await refused.toFile().text(), 'line,refused reason,id,name,tag,reason,stored name,')
  t.strictSame(await readPlants(refused.toFile()), [{ id: 4n, name: 'Acer', reason: 'a gift' }])
})

function withField(name: string) {
  return extendContract(loadContract(), [{ name, schema: { type: 'string' } }])
}
