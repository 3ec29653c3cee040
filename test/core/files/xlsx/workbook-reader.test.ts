import t from 'tap'
import { openWorkbook } from '../../../../core/files/xlsx/workbook-reader.ts'
import { known } from '../../../../core/known.ts'
import { partsOf, readSheet, relationships, zip } from './workbooks.ts'

/** Cells of style `s` have the format with this index. */
const FORMATS = [
  ['General', 0],
  ['yyyy\\-mm\\-dd', 164],
  ['[$-407]d. mmmm yyyy h:mm AM/PM;@', 165],
  ['"day" 0.0 [Red]', 166],
  ['[h]:mm:ss', 167],
  [undefined, 14],
  [undefined, 21],
  [undefined, 22],
  ['mmm', 168],
  ['[>=100]0', 169],
] as const

const STYLES = `<styleSheet><numFmts>${FORMATS.map(([code, id]) =>
  code === undefined
    ? ''
    : `<numFmt numFmtId="${id}" formatCode="${code.replaceAll('"', '&quot;')}"/>`,
).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${FORMATS.map(
  ([, id]) => `<xf numFmtId="${id}"><alignment/></xf>`,
).join('')}</cellXfs><cellStyles/></styleSheet>`

const TEXTS =
  '<sst><si><t>Abies</t></si><si><r><t xml:space="preserve">Abies </t></r><r><rPr/><t>alba</t></r><rPh><t>x</t></rPh></si>' +
  '<si><t>a&amp;b &lt;&#x1F332;&gt;_x000D_\n</t></si><si><t/></si><si><t><![CDATA[<c>]]></t></si></sst>'

const parts = (rows: string) => ({
  ...partsOf(rows),
  'xl/styles.xml': STYLES,
  'xl/sharedStrings.xml': TEXTS,
})

const CELLS: readonly (readonly [cell: string, value: string | undefined])[] = [
  ['<c><v>7</v></c>', '7'],
  ['<c t="n"><v>-0</v></c>', '0'],
  ['<c><v>1.1000000000000001</v></c>', '1.1'],
  ['<c><v>1E3</v></c>', '1000'],
  ['<c><v>1.0</v></c>', '1'],
  ['<c><v>1E-7</v></c>', '1e-7'],
  ['<c><v>999999999999999</v></c>', '999999999999999'],
  // A spreadsheet may have rounded it.
  ['<c><v>1234567890123460</v></c>', '1.23456789012346e+15'],
  ['<c><v>9.2233720368547758E+18</v></c>', '9.223372036854776e+18'],
  // Another program has written it.
  ['<c><v>9223372036854775807</v></c>', '9223372036854775807'],
  ['<c s="1"><v>46351</v></c>', '2026-11-25'],
  ['<c s="1"><v>46351.99</v></c>', '2026-11-25'],
  ['<c s="5"><v>1</v></c>', '1900-01-01'],
  ['<c s="5"><v>61</v></c>', '1900-03-01'],
  ['<c s="5"><v>2958465</v></c>', '9999-12-31'],
  ['<c s="5"><v>2958466</v></c>', '2958466'],
  ['<c s="5"><v>-1</v></c>', '-1'],
  ['<c s="2"><v>46351.986111111109</v></c>', '2026-11-25T23:40:00Z'],
  ['<c s="7"><v>46351</v></c>', '2026-11-25T00:00:00Z'],
  ['<c s="7"><v>46351.0000057870</v></c>', '2026-11-25T00:00:00.500Z'],
  ['<c s="6"><v>0.986111111111111</v></c>', '23:40:00'],
  ['<c s="6"><v>46351.5</v></c>', '2026-11-25T12:00:00Z'],
  ['<c s="8"><v>46351</v></c>', '2026-11-25'],
  ['<c s="3"><v>46351</v></c>', '46351'],
  ['<c s="4"><v>1.5</v></c>', '1.5'],
  ['<c s="9"><v>150</v></c>', '150'],
  ['<c s="99"><v>1</v></c>', '1'],
  ['<c t="d"><v>2026-11-25</v></c>', '2026-11-25'],
  ['<c t="d"><v>2026-11-25T23:40:00</v></c>', '2026-11-25T23:40:00Z'],
  ['<c t="b"><v>1</v></c>', 'true'],
  ['<c t="b"><v>0</v></c>', 'false'],
  ['<c t="s"><v>0</v></c>', 'Abies'],
  ['<c t="s"><v>1</v></c>', 'Abies alba'],
  ['<c t="s"><v>2</v></c>', 'a&b <🌲>\r\n'],
  ['<c t="s"><v>3</v></c>', ''],
  ['<c t="s"><v>4</v></c>', '<c>'],
  ['<c t="inlineStr"><is><t> a\r\nb_x005F_x000D_</t></is></c>', ' a\nb_x000D_'],
  ['<x:c t="inlineStr"><x:is><x:t>a</x:t></x:is></x:c>', 'a'],
  ['<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>', 'ax'],
  ['<c><f>1+1</f><v>2</v></c>', '2'],
  ['<c t="str"><f>IF(A1=1,"","")</f><v></v></c>', undefined],
  ['<c t="str"><f>""</f><v></v></c>', ''],
  ['<c s="1"/>', undefined],
  ['<c><v/></c>', undefined],
]

for (const [cell, value] of CELLS) {
  t.test(`${cell} has the value ${value}`, async (t) => {
    const { records, problem } = await readSheet(zip(parts(`<row>${cell}</row>`)))
    t.equal(problem, undefined)
    const isBlank = value === undefined && { isBlank: true }
    t.strictSame(records, [{ number: 1, values: { 0: value }, ...isBlank }])
  })
}

const PROBLEMS: readonly (readonly [cell: string, problem: string])[] = [
  ['<c r="C4" t="e"><v>#REF!</v></c>', 'cell C4 has the error #REF!'],
  ['<c r="AB4" t="e"><f>1/0</f><v>#DIV/0!</v></c>', 'cell AB4 has the error #DIV/0!'],
  ['<c r="XFD4"><f>NOW()</f></c>', 'cell XFD4 has a formula without a result'],
  ['<c><v>abc</v></c>', 'cell A4 has an invalid number'],
  ['<c><v>1E999</v></c>', 'cell A4 has an invalid number'],
  ['<c t="e"><v>#N/A</v></c><c t="e"><v>#REF!</v></c>', 'cell A4 has the error #N/A'],
]

for (const [cell, problem] of PROBLEMS) {
  t.test(`a record is refused if its ${problem}`, async (t) => {
    const { records } = await readSheet(
      zip(parts(`<row r="4">${cell}</row><row><c><v>1</v></c></row>`)),
    )
    t.match(records, [
      { number: 4, problem },
      { number: 5, values: { 0: '1' }, problem: undefined },
    ])
  })
}

t.test('rows have their number in the sheet, and values by column', async (t) => {
  const { records } = await readSheet(
    zip(
      parts(
        '<row r="2"><c r="B2"><v>1</v></c><c><v>2</v></c><c s="1"/></row><row r="5"><c r="A5" s="1"/></row><row/><row><c><v>3</v></c></row>',
      ),
    ),
  )
  t.strictSame(records, [
    { number: 2, values: { 0: undefined, 1: '1', 2: '2', 3: undefined } },
    { number: 5, values: { 0: undefined }, isBlank: true },
    { number: 6, values: {}, isBlank: true },
    { number: 7, values: { 0: '3' } },
  ])
})

t.test('the records before a fault are read', async (t) => {
  const { records, problem } = await readSheet(zip(parts('<row><c><v>1</v></c></row><row></c>')))
  t.match(records, [{ number: 1, values: { 0: '1' } }])
  t.match(problem, 'not well-formed')
})

t.test('what follows the rows is not read', async (t) => {
  const content = '<worksheet><sheetData><row/></sheetData><!DOCTYPE a>'
  const { records, problem } = await readSheet(
    zip({ ...parts(''), 'xl/worksheets/sheet1.xml': content }),
  )
  t.equal(records.length, 1)
  t.equal(problem, undefined)
})

/** Two sheets and a chart, in paths and with prefixes that other programs use. */
const SHEETS = zip({
  '_rels/.rels': relationships(
    ['extended-properties', 'a.xml'],
    ['officeDocument', '/xl/Workbook2.xml'],
  ),
  'xl/workbook2.xml':
    '<x:workbook><x:workbookPr date1904="1"/><x:sheets><x:sheet name="a &amp; b>c" rel:id="r1"/>' +
    '<x:sheet name="Chart" rel:id="r0"/><x:sheet name="Two" rel:id="r2" state="hidden"/></x:sheets></x:workbook>',
  'xl/_rels/workbook2.xml.rels': relationships(
    ['chartsheet', 'chart.xml'],
    ['worksheet', '/xl/Sheets/Two.xml'],
    ['worksheet', './sheets/x/../one.xml'],
    ['styles', 'styles.xml'],
  ),
  'xl/styles.xml': STYLES,
  'xl/sheets/two.xml':
    '<worksheet><sheetData><row><c s="1"><v>0</v></c></row></sheetData></worksheet>',
  'xl/sheets/one.xml': '<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>',
})

t.test('each sheet can be read, and any number of times', async (t) => {
  const sheets = await openWorkbook(SHEETS)
  t.same(
    sheets.map(({ name }) => name),
    ['a & b>c', 'Two'],
  )
  for (const expected of [
    ['1904-01-01', '1'],
    ['1904-01-01', '1'],
  ]) {
    const values = sheets.map(
      async ({ records }) => (await Array.fromAsync(records()))[0]?.values[0],
    )
    t.same(await Promise.all(values), expected)
  }
})

t.test('reading stops when its caller does, and tells how much is read', async (t) => {
  const rows = Array.from(
    { length: 100_000 },
    (_, index) => `<row><c><v>${index ** 3}</v></c></row>`,
  )
  const file = zip(parts(rows.join('')))
  const [sheet] = await openWorkbook(file)
  const read: number[] = []
  for await (const { number } of known(sheet).records((bytes) => read.push(bytes))) {
    if (number === 1000) break
  }
  t.ok(known(read.at(-1)) < file.size / 4, `${read.at(-1)} of ${file.size} bytes`)
  const { length } = await Array.fromAsync(known(sheet).records((bytes) => read.push(bytes)))
  t.equal(length, rows.length)
  t.ok(known(read.at(-1)) > file.size * 0.9, `${read.at(-1)} of ${file.size} bytes`)
})
