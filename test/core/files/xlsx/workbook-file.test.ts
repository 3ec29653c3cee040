import t from 'tap'
import { recognizeWorkbook } from '../../../../core/files/xlsx/workbook-file.ts'
import { members } from '../../../../core/members/members.gen.ts'
import { partsOf, relationships, zip } from './workbooks.ts'

const row = (...cells: readonly (string | number)[]) =>
  `<row>${cells.map((cell) => `<c t="str"><v>${cell}</v></c>`).join('')}</row>`

const HEADER = row('id', 'name', 'tag')

/** A workbook with some sheets, by their names. */
function workbookOf(sheets: Readonly<Record<string, string>>): Blob {
  const names = Object.keys(sheets)
  const list = names.map((name, index) => `<sheet name="${name}" r:id="r${index}"/>`).join('')
  const files = names.map((_, index) => [`xl/worksheets/sheet${index + 1}.xml`, index] as const)
  return zip({
    ...partsOf(''),
    'xl/workbook.xml': `<workbook><sheets>${list}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(
      ...files.map(([path]) => ['worksheet', path.slice(3)] as const),
    ),
    ...Object.fromEntries(
      files.map(([path, index]) => [
        path,
        `<worksheet><sheetData>${sheets[names[index] ?? '']}</sheetData></worksheet>`,
      ]),
    ),
  })
}

async function* none(): AsyncGenerator<Uint8Array> {}

t.test('the first sheet with rows is read, or the one that is chosen', async (t) => {
  const many = Array.from({ length: 1200 }, (_, index) => row(index, 'Abies')).join('')
  const workbook = workbookOf({
    Notes: '',
    Plants: row('Our plants') + HEADER + many,
    Others: row(7, 'Acer') + row(8, 'Alnus'),
  })
  const file = await recognizeWorkbook(workbook, members)
  t.match(file, { sheets: ['Notes', 'Plants', 'Others'], sheet: 'Plants', header: 2 })
  t.match(file.guess, { id: ['0'], name: ['1'], tag: ['2'] })
  const batches = await Array.fromAsync(file.read(none()))
  t.ok(batches.length > 2)
  const records = batches.flatMap(({ records }) => records)
  t.equal(records.length, 1200)
  t.match(records[0], { number: 3, values: { 0: '0', 1: 'Abies' } })

  const others = await recognizeWorkbook(workbook, members, { sheet: 'Others', header: 'none' })
  t.match(others, { sheet: 'Others', header: 'none', columns: [{ label: 'Column 1' }, {}] })
  t.match(await Array.fromAsync(others.read(none())), [{ records: [{ number: 1 }, { number: 2 }] }])
})

for (const [what, workbook, choices, message] of [
  [
    'another sheet',
    workbookOf({ A: HEADER, B: '' }),
    { sheet: 'C' },
    /of that name\. Its sheets are A, B\.$/,
  ],
  ['no rows', workbookOf({ A: '' }), {}, 'There are no plants in this workbook.'],
  ['no workbook', zip({ 'a.txt': 'x' }), {}, 'The file is not a workbook.'],
] as const) {
  t.test(`${what} gets a sentence`, async (t) => {
    await t.rejects(recognizeWorkbook(workbook, members, choices), { message })
  })
}

t.test('a sheet is read up to its fault', async (t) => {
  const file = await recognizeWorkbook(
    workbookOf({ A: `${HEADER}${row(1, 'Abies')}<row><c r="ZZZZZZ9"><v>1</v></c></row>` }),
    members,
  )
  const records: unknown[] = []
  const read = async () => {
    for await (const batch of file.read(none())) records.push(...batch.records)
  }
  await t.rejects(read(), {
    message: /^Row \d+: a cell has an invalid reference\. The file cannot/,
  })
  t.match(records, [{ number: 2, values: { 0: '1' } }])
})

t.test('a sheet that cannot be read to its end gets a sentence', async (t) => {
  const file = await recognizeWorkbook(
    workbookOf({ A: `${HEADER}${row(1, 'Abies').repeat(300)}<row></x>` }),
    members,
  )
  await t.rejects(Array.fromAsync(file.read(none())), { message: /^The .*\.$/ })
})
