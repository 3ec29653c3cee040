import t from 'tap'
import { createClient } from '../../../client/client.ts'
import { type ExportFormat, recordFormats } from '../../../core/files/record-formats.ts'
import { openWorkbook } from '../../../core/files/xlsx/workbook-reader.ts'
import { known } from '../../../core/known.ts'
import { RefusedPlants } from '../../../page/changes/refused-plants.ts'
import type { Filter } from '../../../page/list/filter.ts'
import { toFields } from '../../../page/model/current-members.ts'
import { exportName, exportPlants } from '../../../page/transfer/export-run.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'
import { fieldsOf } from '../../../page/transfer/file/plant-mapper.ts'
import { mappingOf } from '../../core/files/mapping.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { plantMapper } from './imports.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await importPlants(service.store, PLANTS, 'stop')
})

const SIGNIFICANT = ['a,b;c\t"d"\r\ne', '', '=1+1', '\u202eabc', '<img onerror=alert(1)>']

const ids = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => String(start + index))

const PLANTS = [
  { id: -(2n ** 63n), name: 'Abies', tag: 'some' },
  ...SIGNIFICANT.map((name, index) => ({ id: BigInt(index), name })),
  ...SIGNIFICANT.map((name, index) => ({ id: BigInt(10 + index), name, tag: name })),
  ...Array.from({ length: 1100 }, (_, index) => ({
    id: BigInt(100 + index),
    name: `Acer ${index}`,
  })),
  { id: 2n ** 63n - 1n, name: 'Abies alba', tag: 'some' },
]

function exportAll(format: ExportFormat, filter: Filter = {}, progress: number[] = []) {
  const { signal } = new AbortController()
  const onProgress = (plants: number) => progress.push(plants)
  return exportPlants(createClient(service), filter, format, { signal, onProgress })
}

for (const format of ['csv', 'ndjson'] as const) {
  t.test(`${format} is written as on the command line, and read back equal`, async (t) => {
    const progress: number[] = []
    const blob = await exportAll(format, {}, progress)
    const { header, line } = recordFormats[format]
    t.equal(await blob.text(), header + PLANTS.map(line).join(''))
    t.same(progress, [1000, PLANTS.length])

    const file = await openFile(new File([blob], 'plants'))
    const toPlant = plantMapper(file.guess, file.format)
    const plants: unknown[] = []
    for await (const record of file.records()) plants.push(toPlant(record))
    t.strictSame(plants, PLANTS)
  })
}

t.test('a workbook has a cell for each value', async (t) => {
  const content = await exportAll('xlsx')
  const [sheet] = await openWorkbook(content)
  const rows = await Array.fromAsync(known(sheet).records(), ({ values }) => Object.values(values))
  const withoutEnd = (fields: readonly unknown[]) =>
    fields.slice(0, fields.at(-1) === undefined ? -1 : undefined)
  t.strictSame(rows, [['id', 'name', 'tag'], ...PLANTS.map((plant) => withoutEnd(toFields(plant)))])
})

t.test(
  'an export for a spreadsheet is recognized, also once a spreadsheet has saved it',
  async (t) => {
    for (const [content, isEscaped] of [
      ['id;name;tag\n4;"Abies";"Tree"\n', true],
      ["Id;Name\r\n4;'=1+1\r\n", true],
      ['id,name\n4,"Abies, Nana"\n', false],
      ["id,name\n4,'Abies'\n", false],
      ['{"id":4,"name":"\'=1"}\n', false],
    ] as const) {
      t.equal((await openFile(new File([content], 'plants'))).isEscaped, isEscaped, content)
    }
  },
)

t.test('the name of a file tells its filter and the day', async (t) => {
  const day = new Date(2026, 0, 5, 12)
  t.same(
    [
      exportName('csv', {}, day),
      exportName('xlsx', { tag: 'Forb/herb' }, day),
      exportName('ndjson', { tag: '', q: '../é ×2' }, day),
      exportName('csv', { q: 'x'.repeat(100) }, day),
      exportName('csv', { q: '…' }, day),
      exportName('csv', { untagged: true }, day),
    ],
    [
      'plants-2026-01-05.csv',
      'plants-tag-Forb-herb-2026-01-05.xlsx',
      'plants-tag-empty-name-é-2-2026-01-05.ndjson',
      `plants-name-${'x'.repeat(40)}-2026-01-05.csv`,
      'plants-name-2026-01-05.csv',
      'plants-untagged-2026-01-05.csv',
    ],
  )
})

t.test('a filter selects the plants', async (t) => {
  const exportedIds = async (filter: Filter) =>
    (await (await exportAll('ndjson', filter)).text()).match(/(?<="id":)-?\d+/g)
  t.same(await exportedIds({ tag: 'some' }), ['-9223372036854775808', '9223372036854775807'])
  t.same(await exportedIds({ tag: '' }), ['11'])
  t.same(await exportedIds({ q: 'ACER 109' }), ['209', ...ids(1190, 10)])
  t.equal(await exportedIds({ tag: 'none' }), null)
})

t.test('an export ends when it is canceled', async (t) => {
  const controller = new AbortController()
  const reason = new Error('canceled')
  const onProgress = () => controller.abort(reason)
  const { signal } = controller
  const run = exportPlants(createClient(service), {}, 'csv', { signal, onProgress })
  await t.rejects(run, reason)
})

t.test('all refused records are in the file, and the first ones are shown in short', async (t) => {
  const refused = new RefusedPlants('item')
  const count = 3000
  const fields = fieldsOf(
    { number: 1, values: { id: [1n], name: 'n'.repeat(1000), tag: null } },
    mappingOf({ id: 'id', name: 'name', tag: 'tag' }),
  )
  for (let number = 1; number <= count; number++) {
    refused.add({ number, fields, reason: 'The id must be a whole number' })
  }
  t.equal(refused.count, count)
  t.equal(refused.shown.length, 50)
  t.match(refused.shown[0], { number: 1, fields: ['[1]', `${'n'.repeat(300)}…`, 'null'] })
  const lines = (await refused.toFile().text()).split('\n')
  t.equal(lines.length, count + 2)
  t.equal(lines[count], `${count},The id must be a whole number,[1],${'n'.repeat(1000)},null,,`)
})
