import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { CsvReader } from '../../../core/files/csv-reader.ts'
import { type DamageColumn, DamageNotes } from '../../../core/files/damage.ts'
import { findMojibake } from '../../../core/files/mojibake.ts'
import { members } from '../../../core/members/members.gen.ts'
import type { Member } from '../../../core/members/members.ts'
import type { FieldSchema } from '../../../core/members/own-fields.ts'
import { runs } from '../../helpers/plants/runs.ts'

const base = members.map((member) => ({ name: member.name, member }))

const field = (name: string, type: Member['type'], schema: FieldSchema): DamageColumn => ({
  name,
  member: { name, type, isRequired: false, schema },
})

const COLUMNS: readonly DamageColumn[] = [
  ...base,
  field('planted', 'string', { type: 'string', format: 'date' }),
  field('height', 'number', { type: 'number' }),
  { name: 'taxonID' },
  { name: 'Hybrid' },
]

/** The sentences about records with some cells, which start at line 2. */
function describe(...records: readonly { readonly [name: string]: string }[]): string[] {
  const notes = new DamageNotes(COLUMNS)
  for (const [index, cells] of records.entries()) {
    notes.add(
      index + 2,
      COLUMNS.map(({ name }) => cells[name]),
    )
  }
  return notes.describe('Line')
}

const NOTATION =
  'is in scientific notation: a spreadsheet has shortened it, and its other digits are lost.'
const ROUNDED = 'was rounded by a spreadsheet: the digits after the first 15 are lost.'
const ERROR = 'is the error of a formula in a spreadsheet, not a value.'
const DATE = 'is a date that a spreadsheet has made of another value.'
const NARROW = 'is what a spreadsheet shows if a column is too narrow for the value.'
const garbled = (found: string, meant: string) =>
  `is garbled: ${found} was ${meant} until a program read the file in the wrong encoding.`
const serial = (day: string) =>
  `is a date that a spreadsheet has turned into a number, probably ${day}.`

for (const [name, text, reason] of [
  ['id', '1.0E+15', NOTATION],
  ['id', '1,23457E+11', NOTATION],
  ['taxonID', '5.41E+12', NOTATION],
  ['id', '1234567890123450000', ROUNDED],
  ['taxonID', '1234567890123450', ROUNDED],
  ['id', '12-Mar', DATE],
  ['taxonID', 'Mar-12', DATE],
  ['name', '1-Sep', DATE],
  ['name', '12. Mär', DATE],
  ['id', '#REF!', ERROR],
  ['name', ' #NAME? ', ERROR],
  ['tag', '#N/A', ERROR],
  ['tag', '#VALUE!', ERROR],
  ['planted', '#DIV/0!', ERROR],
  ['height', '#NUM!', ERROR],
  ['Hybrid', '#NULL!', ERROR],
  ['tag', '#BEZUG!', ERROR],
  ['tag', '#¿NOMBRE?', ERROR],
  ['planted', '########', NARROW],
  ['planted', '45231', serial('2023-11-01')],
  ['planted', '20000', serial('1954-10-03')],
  ['planted', '60000', serial('2064-04-08')],
  ['planted', '45231,5', serial('2023-11-01')],
  ['name', 'Je�b b�ek', 'has � in place of a character that was lost in the wrong encoding.'],
  ['name', 'Malus Ã— domestica', garbled('Ã—', '×')],
  ['name', 'Ã—Fatshedera', garbled('Ã—', '×')],
  ['name', 'Malus Ã\x97 domestica', garbled('Ã\x97', '×')],
  ['name', 'LÃ©on', garbled('Ã©', 'é')],
  ['tag', 'BÃ¤ume', garbled('Ã¤', 'ä')],
  ['tag', 'GRÃœN', garbled('Ãœ', 'Ü')],
  ['tag', '20Â°', garbled('Â°', '°')],
  ['name', 'wÄ…ski', garbled('Ä…', 'ą')],
  ['name', 'JeÅ™Ã¡b', garbled('Å™', 'ř')],
  ['name', 'Ð”ÑƒÐ±', garbled('Ð”Ñƒ', 'Ду')],
  ['name', 'Rosa â€˜Peaceâ€™', garbled('â€˜', '‘')],
  ['name', 'Salix â™€', garbled('â™€', '♀')],
  ['name', 'ã‚¿ãƒ©ãƒŽã‚\xad', garbled('ã‚¿ãƒ©', 'タラ')],
  ['tag', 'ðŸŒ²', garbled('ðŸŒ²', '🌲')],
  ['name', 'Malus √ó domestica', garbled('√ó', '×')],
  ['name', 'L√©on', garbled('√©', 'é')],
  ['name', 'Rosa ‚ÄòPeace‚Äô', garbled('‚Äò', '‘')],
] as const) {
  t.test(`damage is named: ${name} ${text}`, async (t) => {
    t.same(describe({ [name]: text }), [`Line 2: the ${name} ${text.trim()} ${reason}`])
  })
}

for (const [name, text] of [
  ['id', '1'],
  ['id', '-99999999999'],
  ['id', '100000000000'],
  ['id', '1000000000000000'],
  ['id', '9223372036854775807'],
  ['id', '1234567890123456789'],
  ['height', '1.0E+15'],
  ['tag', '1.0E+15'],
  ['Hybrid', '1234567890123450000'],
  ['taxonID', 'wfo-0000511077'],
  ['taxonID', '1E5'],
  ['tag', '12-Mar'],
  ['name', 'May 2012'],
  ['name', 'Marrubium vulgare L.'],
  ['planted', '2026-11-25'],
  ['planted', '2026'],
  ['planted', '19999'],
  ['planted', '60001'],
  ['height', '45231'],
  ['tag', '#1'],
  ['tag', '#REFERENCE!'],
  ['tag', '##'],
  ['name', 'JOÃO DE SÃO PAULO'],
  ['name', 'João'],
  ['name', '“MAÇÃ”'],
  ['name', '«LÃ»'],
  ['name', 'A COBORÂ…'],
  ['name', 'Câmpia Română'],
  ['name', 'PÂQUES'],
  ['name', 'KESÄ”'],
  ['name', 'Å–Ä–Ö'],
  ['name', 'Malus × domestica'],
  ['name', 'Rosa ‘Café’…'],
  ['name', '«Pâtée»'],
  ['name', '‚Ähre‘ ≈ √2'],
  ['name', 'Дуб'],
  ['name', 'タラノキ'],
  ['name', 'Ñandú ÑÑ'],
  ['name', 'É preciso: ÁÉÍÓÚ àèìòù ãõ çÇ ñÑ'],
] as const) {
  t.test(`a value that nothing has damaged is not named: ${name} ${text}`, async (t) => {
    t.same(describe({ [name]: text }), [])
  })
}

t.test(
  'each kind of damage is named once, with its first place and how many values have it',
  async (t) => {
    t.same(
      describe(
        { id: '1', name: 'Abies', tag: '#N/A' },
        { id: '2', name: '#REF!', tag: 'Tree' },
        { id: '3.1E+15', name: 'Malus Ã— domestica', tag: '#N/A' },
        { id: '3.2E+15', name: 'Abies' },
      ),
      [
        `Line 4: the id 3.1E+15 ${NOTATION} So is 1 other value.`,
        `Line 2: the tag #N/A ${ERROR} So are 2 other values.`,
        `Line 4: the name Malus Ã— domestica ${garbled('Ã—', '×')}`,
      ],
    )
  },
)

t.test('numbers that end in zeros are not damaged among longer ones', async (t) => {
  const rounded = { id: '1234567890123450' }
  t.same(describe(rounded, { id: '1234567890123451' }), [])
  t.same(describe({ id: '1234567890123451' }, rounded), [])
})

t.test('a long value is cut between characters', async (t) => {
  const [sentence = ''] = describe({ name: `${'🌲'.repeat(40)} Ã—\nx` })
  t.match(sentence, `the name ${'🌲'.repeat(30)}… is garbled`)
})

t.test('UTF-8 read in another encoding is recognized, and what it was', async () => {
  for (const [encoding, characters] of [
    ['windows-1252', '×éèüöäßñçøåłšžčřąęěůőű°½’–™♀'],
    ['macintosh', '×éèüöäßñçøåšžč°’–'],
  ] as const) {
    fc.assert(
      fc.property(fc.constantFrom(...characters), (character) => {
        const garbled = new TextDecoder(encoding).decode(Buffer.from(character))
        assert.equal(findMojibake(`x${garbled}x`)?.meant, character)
        assert.equal(findMojibake(`x${character}x`), undefined)
      }),
      { numRuns: runs(500) },
    )
  }
})

t.test('long text takes linear time', async (t) => {
  for (const part of ['Ã', '√', 'Ð', 'ã‚', 'â€', '#', '1', ' ', '\ufffd', 'Ð”']) {
    const notes = new DamageNotes(COLUMNS)
    const text = part.repeat(2 ** 18)
    notes.add(2, Array(COLUMNS.length).fill(text))
    t.ok(notes.describe('Line').length <= COLUMNS.length)
  }
})

t.test('the sample has no damage', async (t) => {
  const notes = new DamageNotes(base)
  let count = 0
  for (const file of ['data/sample.csv', 'data/nursery.csv']) {
    const reader = new CsvReader({ separator: ',', quote: '"' })
    const text = readFileSync(file, 'utf8')
    for (const { number, values } of [...reader.read(text), ...reader.end()]) {
      notes.add(
        number,
        base.map((_, index) => values[index] as string | undefined),
      )
      count += 1
    }
  }
  t.ok(count > 10)
  t.same(notes.describe('Line'), [])
})
