import assert from 'node:assert/strict'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { MalformedFile, RECORD_LENGTH_MAX } from '../../../core/files/file-record.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { readRecords } from './read-records.ts'

/** The fields of each record after its number. */
function fieldsOf(csv: string, partLength?: number): readonly (readonly unknown[])[] {
  const { records, problem } = readRecords('csv', csv, partLength)
  assert.equal(problem, undefined)
  return records.map(({ number, values }) => [number, ...Object.values(values)])
}

const HEADER = [1, 'id', 'name', 'tag']

for (const { what, csv, records } of [
  {
    what: 'a quoted field can contain separators, quotes and line breaks',
    csv: '4,"a, ""b""\nc\r\nd",\n5,Acer,',
    records: [
      [2, '4', 'a, "b"\nc\r\nd', undefined],
      [5, '5', 'Acer', undefined],
    ],
  },
  {
    what: 'blank lines are skipped, and counted as lines',
    csv: '\n\r\n,,\n4,Abies,\n\n',
    records: [
      [4, undefined, undefined, undefined],
      [5, '4', 'Abies', undefined],
    ],
  },
]) {
  t.test(what, async (t) => {
    for (const length of [1, 2, 3, 1000]) {
      t.same(fieldsOf(`id,name,tag\n${csv}`, length), [HEADER, ...records], `parts of ${length}`)
    }
  })
}

t.test('semicolons, tabs and quoted separators in the header are recognized', async (t) => {
  t.same(fieldsOf('id;name;tag\n4;a,b;'), [HEADER, [2, '4', 'a,b', undefined]])
  t.same(fieldsOf('id\tname\ttag\n4\ta,b;c\t'), [HEADER, [2, '4', 'a,b;c', undefined]])
  t.same(fieldsOf('"a,b";"c ""d"", e"\n1;2'), [
    [1, 'a,b', 'c "d", e'],
    [2, '1', '2'],
  ])
})

t.test('a first line can name the separator', async (t) => {
  for (const length of [1, 2, 1000]) {
    t.same(fieldsOf('sep=;\r\nid;a, b\r\n4;x', length), [
      [2, 'id', 'a, b'],
      [3, '4', 'x'],
    ])
  }
  t.same(fieldsOf('SEP=|\rid|a,b\r'), [[2, 'id', 'a,b']])
  t.same(fieldsOf('id,name\nsep=;,x'), [
    [1, 'id', 'name'],
    [2, 'sep=;', 'x'],
  ])
})

t.test('lines can end with a carriage return alone', async (t) => {
  t.same(fieldsOf('id,name,tag\r4,"a\rb",\r5,Acer,x'), [
    HEADER,
    [2, '4', 'a\nb', undefined],
    [4, '5', 'Acer', 'x'],
  ])
})

t.test('a record with another number of fields is invalid', async (t) => {
  const { records } = readRecords('csv', 'id,name\n4\n5,Acer,x\n6,Alnus')
  t.same(
    records.map(({ problem }) => problem),
    [
      undefined,
      'row has 1 field, but the first row has 2',
      'row has 3 fields, but the first row has 2',
      undefined,
    ],
  )
})

t.test('a record without values is blank, whatever its width', async (t) => {
  const { records } = readRecords('csv', ',\n,,\nid,name\n,,,\n"",\n')
  t.same(
    records.map(({ isBlank, problem }) => [isBlank, problem]),
    [
      [true, undefined],
      [true, undefined],
      [undefined, undefined],
      [true, undefined],
      [undefined, undefined],
    ],
  )
})

t.test('a record that ends with the file is unterminated', async (t) => {
  for (const [csv, isUnterminated] of [
    ['id,name', true],
    ['id,"name"', true],
    ['id,name\n', undefined],
    ['id,name\r\n', undefined],
  ] as const) {
    t.equal(readRecords('csv', csv).records.at(-1)?.isUnterminated, isUnterminated, csv)
  }
})

for (const { csv, reason } of [
  { csv: '4,a"b', reason: 'a field that contains a quote must be quoted' },
  { csv: '"4"5,a', reason: 'a quote within a field must be doubled' },
  { csv: '4,"a\n\n', reason: 'a quote is not closed' },
  { csv: `4${','.repeat(2 ** 14)}`, reason: 'a record must not have more than 16384 fields' },
  {
    csv: `4,"${'a'.repeat(RECORD_LENGTH_MAX + 1)}\n5,b`,
    reason: 'record must not exceed 4194304 characters; perhaps a quote is not closed',
  },
]) {
  t.test(`${JSON.stringify(csv.slice(0, 20))} ends the file`, async (t) => {
    const read = readRecords('csv', `id,name\n3,Abies\n${csv}`)
    t.equal(read.records.length, 2, 'the records before are read')
    t.type(read.problem, MalformedFile)
    t.match(read.problem, { number: 3, message: reason })
  })
}

t.test('a quote that is never closed takes linear time', async (t) => {
  const csv = `id,name\n3,"${'""'.repeat(RECORD_LENGTH_MAX)}`
  const { problem } = readRecords('csv', csv, 100)
  t.match(problem, { message: /must not exceed/ })
})

/** The records that csv-parse reads, without those that have no value. */
function expectedRows(csv: string, delimiter: string): readonly unknown[] {
  const records: unknown[] = []
  try {
    parse(csv, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      skip_empty_lines: true,
      relax_column_count: true,
      cast: (field, { quoting }) => (field === '' && !quoting ? undefined : field),
      on_record: (fields: readonly (string | undefined)[]) => {
        if (fields.some((field) => field !== undefined)) records.push(fields)
        return null
      },
    })
  } catch {
    records.push('malformed')
  }
  return records
}

/** Text that consists mostly of significant characters. No U+0000, which csv-parse ignores after a closing quote. */
const text = fc
  .array(fc.constantFrom(...',;\t"\n\r a1-0é', '\r\n', '""'), { maxLength: 30 })
  .map((characters) => characters.join(''))

t.test('every file is read as csv-parse reads it', async () => {
  const header = fc.constantFrom('id,name,tag\n', 'name;"id"\r\n', 'tag\tid\tname\n')
  const partLength = fc.integer({ min: 1, max: 20 })
  fc.assert(
    fc.property(header, fc.array(text), partLength, (first, parts, length) => {
      const csv = first + parts.join('')
      const { records, problem } = readRecords('csv', csv, length)
      const read = records
        .filter(({ isBlank }) => !isBlank)
        .map(({ values }) => Object.values(values))
      const expected = expectedRows(csv, first.replace(/[a-z"]/g, '').slice(0, 1))
      assert.deepEqual(problem === undefined ? read : [...read, 'malformed'], expected)
    }),
    { numRuns: runs(1000) },
  )
})
