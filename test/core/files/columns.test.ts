import t from 'tap'
import { guessMapping } from '../../../core/files/columns.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/formats.ts'
import { recordMapper, toNewPlant } from '../../../core/files/record-mapper.ts'
import { members } from '../../../core/members/members.gen.ts'
import { mappingOf } from './mapping.ts'

/** Reads plants with a mapping. */
function plantMapper(mapping: { readonly [name: string]: string | undefined }, format: Format) {
  const read = recordMapper(members, mappingOf(mapping), format)
  return (record: FileRecord) => {
    const values = read(record)
    return typeof values === 'string' ? values : toNewPlant(members, values)
  }
}

const ALL = { id: 'id', name: 'name', tag: 'tag' }

/** The names that are guessed for the id, the name and the tag. */
function guess(names: readonly string[], ...sample: readonly (readonly unknown[])[]): unknown[] {
  const columns = names.map((name, index) => ({ key: String(index), name, label: name }))
  const records = sample.map((values, index) => ({ number: index + 2, values: { ...values } }))
  const mapping = guessMapping(members, columns, records)
  return [mapping.id, mapping.name, mapping.tag].map((keys) => keys && names[Number(keys[0])])
}

for (const { names, guessed } of [
  { names: ['id', 'name', 'tag'], guessed: ['id', 'name', 'tag'] },
  { names: ['tag', 'Name', 'name', 'ID', 'id'], guessed: ['id', 'name', 'tag'] },
  { names: ['ID', ' Name ', 'TAG'], guessed: ['ID', ' Name ', 'TAG'] },
  { names: ['Common Name', 'Plant ID'], guessed: ['Plant ID', 'Common Name', undefined] },
  { names: ['Plant no.', 'Name'], guessed: ['Plant no.', 'Name', undefined] },
  {
    names: ['Accession Number', 'Scientific Name with Author', 'Common Name', 'Growth Habit'],
    guessed: ['Accession Number', 'Scientific Name with Author', 'Growth Habit'],
  },
  { names: ['species', 'plant', 'family'], guessed: [undefined, 'plant', 'family'] },
  { names: ['genus', 'name'], guessed: [undefined, 'name', undefined] },
  { names: ['a', ''], guessed: [undefined, undefined, undefined] },
  { names: ['', ''], guessed: [undefined, undefined, undefined] },
]) {
  t.test(`the columns ${names} are guessed`, async (t) => t.same(guess(names), guessed))
}

t.test('each member has the column of exactly its name', async (t) => {
  const field = (name: string) => ({
    name,
    type: 'string' as const,
    isRequired: false,
    schema: { type: 'string' as const },
  })
  const columns = [' x ', 'x', 'a.tag'].map((label, index) => ({
    key: String(index),
    name: label.replace('a.', ''),
    label,
  }))
  const all = [...members, field(' x '), field('x'), field('a.tag')]
  t.same(guessMapping(all, columns, []), { ' x ': ['0'], x: ['1'], 'a.tag': ['2'] })
})

t.test('a column has ids if its name says so, and its values are unique', async (t) => {
  t.same(guess(['Nr', 'name'], ['4', 'Abies'], [' 5 ', 'Acer']), ['Nr', 'name', undefined])
  t.same(guess(['Nr', 'name'], ['4', 'Abies'], ['4', 'Acer']), [undefined, 'name', undefined])
  t.same(guess(['Nr', 'name'], ['4', 'Abies'], ['x', 'Acer']), [undefined, 'name', undefined])
  t.same(guess(['size', 'name'], ['4', 'Abies'], ['5', 'Acer']), [undefined, 'name', undefined])
  const mistake = [
    ['4', 'Abies'],
    ['x', 'Acer'],
    ['6', 'Alnus'],
  ]
  t.same(guess(['id', 'name'], ...mistake), ['id', 'name', undefined])
  t.same(guess(['id', 'name'], ['rec1', 'Abies']), [undefined, 'name', undefined])
})

const NOT_INTEGER = 'id must be a whole number, written like 4 or -12'
const BEYOND = 'id must be between -9223372036854775808 and 9223372036854775807'

for (const { format, values, result } of [
  { format: 'csv', values: { id: '4', name: '', tag: '' }, result: { id: 4n, name: '', tag: '' } },
  {
    format: 'csv',
    values: { id: '-9223372036854775808', name: 'a' },
    result: { id: -(2n ** 63n), name: 'a' },
  },
  { format: 'csv', values: { id: '9223372036854775808', name: 'a' }, result: BEYOND },
  { format: 'csv', values: { name: 'a' }, result: 'id is missing' },
  {
    format: 'csv',
    values: { id: '007', name: 'a' },
    result: 'id must be written without zeros at the start, like 7',
  },
  { format: 'csv', values: { id: ' 5\u00a0', name: ' a ' }, result: { id: 5n, name: ' a ' } },
  { format: 'csv', values: { id: '1E+12', name: 'a' }, result: NOT_INTEGER },
  { format: 'csv', values: { id: '', name: 'a' }, result: NOT_INTEGER },
  { format: 'csv', values: { id: '4' }, result: 'name is missing' },
  {
    format: 'csv',
    values: { id: '4', name: 'a\0' },
    result: 'name must not contain U+0000 or a lone surrogate',
  },
  {
    format: 'ndjson',
    values: { id: 4n, name: 'a', tag: null, x: 1 },
    result: { id: 4n, name: 'a' },
  },
  {
    format: 'ndjson',
    values: { id: '4', name: 'a' },
    result: { id: 4n, name: 'a' },
  },
  { format: 'ndjson', values: { id: null, name: 'a' }, result: 'id is missing' },
  { format: 'ndjson', values: { id: 2 ** 63, name: 'a' }, result: BEYOND },
  { format: 'json', values: { id: 4n, name: 4n }, result: 'name must be text' },
  { format: 'json', values: { id: 4n, name: null }, result: 'name is missing' },
  {
    format: 'json',
    values: { id: 4n, name: 'a', tag: '\ud800' },
    result: 'tag must not contain U+0000 or a lone surrogate',
  },
] as const) {
  t.test(`${format}: ${typeof result === 'string' ? result : 'a plant'}`, async (t) => {
    const plant = plantMapper(ALL, format)({ number: 2, values })
    if (typeof result === 'string') t.match(plant, result)
    else t.strictSame(plant, result)
  })
}

t.test('a blank cell is the value of an own field that can be blank', async (t) => {
  const schema = { type: 'string', minLength: 1 } as const
  const note = { name: 'note', type: 'string', isRequired: false, schema } as const
  const read = recordMapper([note], { note: ['0'] }, 'csv')
  t.strictSame(read({ number: 2, values: { 0: ' ' } }), { note: ' ' })
  t.strictSame(read({ number: 2, values: { 0: '' } }), { note: null })
})

t.test('a reason quotes what was given', async (t) => {
  const reasonOf = (id: string) => plantMapper(ALL, 'csv')({ number: 2, values: { id, name: 'a' } })
  t.equal(reasonOf('\u001b'), `${NOT_INTEGER}, not "\\u001b"`)
  t.equal(reasonOf('x'.repeat(41)), `${NOT_INTEGER}, not "${'x'.repeat(40)}…"`)
})

t.test('without a column for the tag, plants have none', async (t) => {
  const toPlant = plantMapper({ ...ALL, tag: undefined }, 'csv')
  const values = { id: '4', name: 'Abies', tag: 'Tree' }
  t.strictSame(toPlant({ number: 2, values }), { id: 4n, name: 'Abies' })
})

t.test('a record that cannot be read keeps its problem', async (t) => {
  const record = { number: 2, values: { id: '4', name: 'a' }, problem: 'row has 3 fields' }
  t.equal(plantMapper(ALL, 'csv')(record), 'row has 3 fields')
})
