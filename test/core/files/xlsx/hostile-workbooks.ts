import { randomBytes } from 'node:crypto'
import { partsOf, relationships, repeat, zip } from './workbooks.ts'

const SHEET = 'xl/worksheets/sheet1.xml'
const START = '<worksheet><sheetData>'
const END = '</sheetData></worksheet>'
const { 'xl/sharedStrings.xml': _strings, ...withoutStrings } = partsOf('')
const valid = zip(partsOf('<row><c><v>1</v></c></row>'))

export const withSheet = (rows: string) => zip(partsOf(rows))
const withBomb = (text: string, times: number, before = START) =>
  zip({ ...partsOf(''), [SHEET]: repeat(before, text, times) })

/** About a megabyte of some text. */
const megabyte = (text: string) => text.repeat(Math.floor(2 ** 20 / text.length))

const ENTITIES = Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY lol${index + 1} "${`&lol${index};`.repeat(10)}">`,
)

/** Workbooks that are refused, and why. */
export const CASES: readonly (readonly [what: string, file: () => Blob, problem: RegExp])[] = [
  ['an empty file', () => new Blob([]), /damaged or cut off/],
  ['random bytes', () => new Blob([randomBytes(2 ** 17)]), /damaged or cut off/],
  ['a file that is cut off', () => valid.slice(0, -1), /damaged or cut off/],
  ['a file without its start', () => valid.slice(10), /damaged or cut off|not a workbook/],
  ['another ZIP archive', () => zip({ 'a.txt': 'a' }), /not a workbook/],
  ['an encrypted entry', () => zip(partsOf(''), { flags: 1 }), /password/],
  ['an unknown compression', () => zip(partsOf(''), { method: 99 }), /unknown way/],
  [
    'data that is not compressed',
    () => zip({ ...partsOf(''), [SHEET]: { deflated: Buffer.from('<worksheet/>') } }),
    /damaged or cut off/,
  ],
  [
    'data that ends early',
    () =>
      zip({
        ...partsOf(''),
        [SHEET]: { deflated: repeat(START, '<row/>', 9).deflated.subarray(0, -4) },
      }),
    /damaged or cut off|not well-formed/,
  ],
  ['XML that is not well-formed', () => withSheet('<row></c>'), /not well-formed/],
  ['XML that ends early', () => zip({ ...partsOf(''), [SHEET]: START }), /not well-formed/],
  ['a part that is missing', () => zip(withoutStrings), /incomplete/],
  [
    'a sheet outside of the archive',
    () =>
      zip({
        ...partsOf(''),
        'xl/_rels/workbook.xml.rels': relationships(['worksheet', '../../../../etc/passwd']),
      }),
    /incomplete/,
  ],
  [
    'sheets without rows',
    () =>
      zip({ ...partsOf(''), 'xl/_rels/workbook.xml.rels': relationships(['chartsheet', 'x.xml']) }),
    /has no sheets/,
  ],
  [
    'entities that expand to a gigabyte',
    () =>
      zip({
        ...partsOf(''),
        [SHEET]: `<!DOCTYPE lolz [<!ENTITY lol0 "lol">${ENTITIES.join('')}]><worksheet>&lol9;</worksheet>`,
      }),
    /document type definition/,
  ],
  [
    'a reference beyond all sheets',
    () => withSheet('<row r="1"><c r="ZZZZZZ999999999"><v>1</v></c></row>'),
    /invalid reference/,
  ],
  [
    'a column beyond all sheets',
    () => withSheet('<row r="1"><c r="XFE1"><v>1</v></c></row>'),
    /invalid reference/,
  ],
  [
    'too many columns',
    () => withSheet(`<row>${'<c/>'.repeat(2 ** 14 + 1)}</row>`),
    /invalid reference/,
  ],
  ['a row beyond all sheets', () => withSheet('<row r="1048577"/>'), /invalid number/],
  ['a row that is no number', () => withSheet('<row r="x"/>'), /invalid number/],
  ['rows in another order', () => withSheet('<row r="2"/><row r="1"/>'), /invalid number/],
  ['deep nesting', () => withSheet('<a>'.repeat(1000)), /too many elements/],
  [
    'a workbook of 10 GB',
    () => withBomb(megabyte(`<a>${'x'.repeat(1000)}</a>`), 10_240),
    /more than 512 MB/,
  ],
  [
    '10 million cells',
    () => withBomb(megabyte(`<row>${'<c/>'.repeat(100)}</row>`), 40),
    /5,000,000 cells/,
  ],
  [
    'as many rows with one far cell',
    () => withSheet('<row><c r="XFD1"/></row>'.repeat(1000)),
    /5,000,000 cells/,
  ],
  [
    'more rows than a sheet has',
    () => withSheet(`<row r="1048000"/>${'<row/>'.repeat(1000)}`),
    /invalid number/,
  ],
  ['elements without end', () => withBomb(megabyte('<a/>'), 512), /too many elements/],
  ['text without end', () => withBomb(megabyte(' '), 512), /too long/],
  ['a comment without end', () => withBomb(megabyte('x'), 512, `${START}<!--`), /too long/],
  ['a tag without end', () => withBomb(megabyte('x="1" '), 512, `${START}<row `), /too long/],
  [
    'cells with more text than a record can have',
    () => withSheet(`<row><c t="str">${`<v>${'x'.repeat(2 ** 19)}</v>`.repeat(9)}</c></row>`),
    /must not exceed 4194304 characters/,
  ],
  [
    'more shared text than memory',
    () =>
      zip({
        ...partsOf(''),
        'xl/sharedStrings.xml': repeat(
          '<sst>',
          megabyte(`<si><t>${'x'.repeat(1000)}</t></si>`),
          200,
        ),
      }),
    /more than 64 MB of text/,
  ],
  [
    'more empty shared strings than memory',
    () => zip({ ...partsOf(''), 'xl/sharedStrings.xml': repeat('<sst>', megabyte('<si/>'), 100) }),
    /more than 64 MB of text/,
  ],
  [
    'more styles than memory',
    () => zip({ ...partsOf(''), 'xl/styles.xml': repeat('<styleSheet>', megabyte('<xf/>'), 100) }),
    /more than 8 MB/,
  ],
]

const LONG = 'x'.repeat(2 ** 19)

/** Workbooks of rows that have as much text as a record can have. They are not refused. */
export const LONG_ROWS: readonly (() => Blob)[] = [
  () => {
    const row = `<row>${`<c t="str"><v>${LONG}</v></c>`.repeat(7)}</row>`
    return zip({ ...partsOf(''), [SHEET]: repeat(START, row, 120, END) })
  },
  () =>
    zip({
      ...partsOf('<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>'.repeat(500)),
      'xl/sharedStrings.xml': `<sst>${`<si>${`<t>${LONG}</t>`.repeat(7)}</si>`.repeat(2)}</sst>`,
    }),
]
