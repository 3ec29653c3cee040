import assert from 'node:assert/strict'
import { CsvError, parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { COMMA } from '../../contract/bytes.ts'
import { CsvRecord, decodeField, type Problem, problems } from '../../src/transfer/csv-record.ts'

interface Read {
  /** An empty field without quotes is undefined. */
  readonly records: (string | undefined)[][]
  readonly problem: Problem | undefined
}

function read(text: string, separator: string): Read {
  const bytes = Buffer.from(text)
  const record = new CsvRecord(bytes, true)
  const byte = separator.charCodeAt(0)
  const records: (string | undefined)[][] = []
  for (let from = 0; from < bytes.length; from = record.end) {
    const fields: (string | undefined)[] = []
    const problem = record.read(from, byte, (field) => {
      const empty = field.start === field.end && !field.isQuoted
      fields[field.index] = empty ? undefined : decodeField(bytes, field)
    })
    if (problem !== undefined) return { records, problem }
    assert.equal(record.width, fields.length)
    assert.equal(
      record.isBlank,
      fields.every((field) => field === undefined),
    )
    assert.equal(record.lines, bytes.subarray(from, record.end).toString().split('\n').length - 1)
    assert.ok(record.isUtf8())
    records.push(fields)
  }
  return { records, problem: undefined }
}

const CODES: { readonly [code: string]: Problem } = {
  CSV_INVALID_CLOSING_QUOTE: problems.quoteNotDoubled,
  INVALID_OPENING_QUOTE: problems.fieldNotQuoted,
  CSV_QUOTE_NOT_CLOSED: problems.quoteNotClosed,
}

/** The records that csv-parse reads, up to the first malformed one. */
function readByCsvParse(text: string, delimiter: string): Read {
  const records: (string | undefined)[][] = []
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      cast: (text, { quoting }) => (text === '' && !quoting ? undefined : text),
      on_record: (fields: (string | undefined)[]): undefined => {
        records.push(fields)
        return undefined
      },
    })
    return { records, problem: undefined }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { records, problem: CODES[error.code] }
  }
}

t.test('records are split as csv-parse splits them', async () => {
  const separators = fc.constantFrom(',', ';', '\t')
  const part = fc.constantFrom(
    '"',
    '""',
    ',',
    ';',
    '\t',
    '\n',
    '\r\n',
    '\r',
    'a',
    'é🌱',
    ' ',
    '"a"',
    '"\n"',
  )
  fc.assert(
    fc.property(fc.string({ unit: part, maxLength: 16 }), separators, (text, separator) => {
      assert.deepEqual(read(text, separator), readByCsvParse(text, separator))
    }),
    { numRuns: 5000 },
  )
})

t.test('a record is incomplete until its newline is read', async (t) => {
  const text = '1,"a""b\n",c\r\n'
  for (let length = 1; length < text.length; length++) {
    const record = new CsvRecord(Buffer.from(text.slice(0, length)), false)
    const problem = record.read(0, COMMA, () => {})
    t.ok(
      problem === problems.unfinished || problem === problems.quoteNotClosed,
      text.slice(0, length),
    )
  }
  const record = new CsvRecord(Buffer.from(`${text}x`), false)
  t.equal(
    record.read(0, COMMA, () => {}),
    undefined,
  )
  t.equal(record.end, text.length)
})

for (const [text, end] of [
  ['ab"c\n', 3],
  ['"a"b\n', 4],
] as const) {
  t.test(`the malformed record ${text.trim()} ends after its first invalid byte`, async (t) => {
    const record = new CsvRecord(Buffer.from(text), true)
    t.ok(record.read(0, COMMA, () => {}))
    t.equal(record.end, end)
  })
}
