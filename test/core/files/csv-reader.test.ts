import assert from 'node:assert/strict'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import type { Dialect } from '../../../core/files/csv-reader.ts'
import { RECORD_LENGTH_MAX } from '../../../core/files/file-record.ts'
import { recordFormats } from '../../../core/files/record-formats.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { readRecords } from './read-records.ts'

/** The fields of each record after its number. */
function fieldsOf(
  csv: string,
  partLength?: number,
  dialect?: Dialect,
): readonly (readonly unknown[])[] {
  const { records, problem } = readRecords('csv', csv, partLength, dialect)
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

t.test('lines can end with a carriage return alone', async (t) => {
  const dialect: Dialect = { separator: ',', quote: '"', hasReturnsOnly: true }
  t.same(fieldsOf('id,name,tag\r4,"a\rb",\r5,Acer,x', 1, dialect), [
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

for (const { what, csv, rows } of [
  {
    what: 'text after a closing quote',
    csv: '4,"a"b,c\n5,Acer,x\n',
    rows: [
      [2, 'a quote within a field in quotes must be doubled'],
      [3, '5', 'Acer', 'x'],
    ],
  },
  {
    what: 'a quote that is not closed',
    csv: '4,"a,x\n5,Acer,x\n6,Alnus,x\n',
    rows: [
      [2, 'a quote is not closed'],
      [3, '5', 'Acer', 'x'],
      [4, '6', 'Alnus', 'x'],
    ],
  },
  {
    what: 'a quote that the quote of another row closes',
    csv: '4,"a,x\n5,Acer,x\n6,Alnus",x\n7,Betula,x\n',
    rows: [
      [2, 'a quote is not closed on this line: lines 2 to 4 would be one row'],
      [3, '5', 'Acer', 'x'],
      [4, '6', 'Alnus"', 'x'],
      [5, '7', 'Betula', 'x'],
    ],
  },
  {
    what: 'a quote that an opening quote closes',
    csv: '4,"a,x\n5,"Acer",x\n6,Alnus,x\n',
    rows: [
      [2, 'a quote within a field in quotes must be doubled'],
      [3, '5', 'Acer', 'x'],
      [4, '6', 'Alnus', 'x'],
    ],
  },
  {
    what: 'more fields, of which the last ones are empty',
    csv: '4,a,x,,\n5,b,y,,z\n6\n',
    rows: [
      [2, '4', 'a', 'x'],
      [3, 'row has 5 fields, but the first row has 3'],
      [4, 'row has 1 field, but the first row has 3'],
    ],
  },
  {
    what: 'quotes within a field',
    csv: '4,5" pot "a",x\n5, the "big" one,x\n6, "b" c,x\n',
    rows: [
      [2, '4', '5" pot "a"', 'x'],
      [3, '5', ' the "big" one', 'x'],
      [4, '6', ' "b" c', 'x'],
    ],
  },
  {
    what: 'too many fields',
    csv: `4${','.repeat(2 ** 14)}\n5,b,x\n`,
    rows: [
      [2, 'a row must not have more than 16384 fields'],
      [3, '5', 'b', 'x'],
    ],
  },
  {
    what: 'a line that is too long',
    csv: `4,${'a'.repeat(RECORD_LENGTH_MAX + 1)},x\n5,b,x\n`,
    rows: [
      [2, 'record must not exceed 4194304 characters; perhaps a quote is not closed'],
      [3, '5', 'b', 'x'],
    ],
  },
  {
    what: 'a quote that is not closed in a long file',
    csv: `4,"${'a,b,c\n'.repeat(RECORD_LENGTH_MAX / 4)}`,
    rows: [
      [2, 'record must not exceed 4194304 characters; perhaps a quote is not closed'],
      [3, 'a', 'b', 'c'],
    ],
  },
]) {
  t.test(`${what}: costs no other row`, async (t) => {
    for (const length of csv.length > 1000 ? [2 ** 16] : [1, 2, 3, 1000]) {
      const { records, problem } = readRecords('csv', `id,name,tag\n${csv}`, length)
      t.equal(problem, undefined)
      const read = records
        .slice(1, 1 + rows.length)
        .map(({ number, values, problem }) =>
          problem === undefined ? [number, ...Object.values(values)] : [number, problem],
        )
      t.strictSame(read, rows)
    }
  })
}

t.test('a field of several lines is one row', async (t) => {
  const csv = 'id,name,tag\n4,"a, b\nc\nd",x\n'
  t.strictSame(fieldsOf(csv), [HEADER, [2, '4', 'a, b\nc\nd', 'x']])
})

t.test('an exported field whose lines look like rows is one row', async (t) => {
  const { header, line } = recordFormats.csv
  const csv = header + line({ id: 1n, name: 'a,b\n2,c', tag: 'x' })
  t.strictSame(fieldsOf(csv), [HEADER, [2, '1', 'a,b\n2,c', 'x']])
})

t.test('a first field of several lines can be several rows', async (t) => {
  const { records } = readRecords('csv', 'name,id\n"Abies,1\nAcer",2\n')
  t.match(records[1]?.problem, /^a quote is not closed on this line: lines 2 to 3/)
})

t.test('every file takes linear time', async (t) => {
  const length = 2 ** 21
  for (const part of [
    '""',
    '"\n',
    '"a\n',
    'a,"\n',
    '"""\n',
    '"a""\n',
    ',"\n"",',
    ' "a',
    '" \n',
    '"a","\n',
  ]) {
    const start = process.cpuUsage()
    const { problem } = readRecords(
      'csv',
      `id,name\n"${part.repeat(length / part.length)}`,
      2 ** 16,
    )
    t.equal(problem, undefined)
    const { user } = process.cpuUsage(start)
    t.ok(user < 5e6, `${part}: ${user}`)
  }
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

/** Fields without empty ones at the end. */
function withoutEnd(fields: unknown): unknown {
  const all = fields as readonly unknown[]
  return all.slice(0, all.findLastIndex((field) => field !== undefined) + 1)
}

t.test('every file that csv-parse reads is read alike', async () => {
  const header = fc.constantFrom('id,name,tag\n', 'name;"id"\r\n', 'tag\tid\tname\n')
  const partLength = fc.integer({ min: 1, max: 20 })
  fc.assert(
    fc.property(header, fc.array(text), partLength, (first, parts, length) => {
      const csv = first + parts.join('')
      const separator = first.replace(/[a-z"]/g, '').slice(0, 1)
      const expected = expectedRows(csv, separator)
      // What is malformed there can be read here.
      fc.pre(expected.at(-1) !== 'malformed' && !csv.endsWith('\r'))
      const { records, problem } = readRecords('csv', csv, length, { separator, quote: '"' })
      assert.equal(problem, undefined)
      fc.pre(records.every(({ isMalformed }) => !isMalformed))
      const read = records
        .filter(({ isBlank }) => !isBlank)
        .map(({ values }) => Object.values(values))
      assert.deepEqual(read.map(withoutEnd), expected.map(withoutEnd))
    }),
    { numRuns: runs(1000) },
  )
})
