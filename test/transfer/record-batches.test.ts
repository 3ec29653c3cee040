import t from 'tap'
import { loadContract } from '../../core/contract/contract.ts'
import { RECORD_LENGTH_MAX } from '../../core/files/file-record.ts'
import type { Format } from '../../core/files/readers.ts'
import { recordFormats } from '../../core/files/record-formats.ts'
import type { ParseResult, ReadOptions } from '../../src/transfer/record.ts'
import { readRecords } from '../../src/transfer/record-batches.ts'

const contract = loadContract()

type Options = Partial<ReadOptions>

type Read = [number: number, result: ParseResult | undefined]

async function* split(bytes: Buffer, chunkBytes: number) {
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    yield bytes.subarray(from, from + chunkBytes)
  }
}

/** Reads a file that arrives in chunks: its records, and the message of an error that ends reading. */
async function read(
  format: Format,
  bytes: Buffer,
  chunkBytes = 2 ** 16,
  options: Options = {},
): Promise<{ reads: Read[]; error?: string }> {
  const reads: Read[] = []
  try {
    for await (const { records } of readRecords(format, split(bytes, chunkBytes), {
      contract,
      ...options,
    })) {
      for (const { number, result } of records) reads.push([number, result])
    }
    return { reads }
  } catch (error) {
    return { reads, error: (error as Error).message }
  }
}

const a = { id: 1n, name: 'a' }
const b = { id: 2n, name: 'b' }
const LARGE = `record must not exceed ${RECORD_LENGTH_MAX} characters`
const ENDS_WITHIN = 'the input ends within this line; end it with a newline if it is complete'
const unreadAfter = (line: number) =>
  `reading ended at line ${line}: correct it and import the file again`
const NOT_UTF8 = Buffer.from([0xff])

/** Files, as lists of parts, and the records read from them. */
const cases: {
  format: Format
  what: string
  file: (string | Buffer)[]
  reads: Read[]
  options?: Options
  /** The error after the records. */
  error?: string
}[] = [
  {
    format: 'ndjson',
    what: 'CRLF, blank lines, unknown properties and a byte order mark are accepted',
    file: ['\ufeff{"id":1,"name":"a","x":[1]}\r\n\n \t\r\n{"name":"b","id":2.0}'],
    reads: [
      [1, a],
      [4, b],
    ],
  },
  {
    format: 'ndjson',
    what: 'invalid records are reported with their line and the message of the API',
    file: [
      '{"id":9223372036854775808,"name":"a"}\n{"id":1}\n{"id":1,"name":7}\n{"id":1,"name":"\\u0000"}\n',
      '{"id":1,"name":"a","tag":null}\n[]\nx\n{"id":1,"name":"',
      NOT_UTF8,
      '"}\n{"id":2,"name":"b"}\n',
    ],
    reads: [
      [1, 'id must be an int64'],
      [2, "must have required property 'name'"],
      [3, 'name must be string'],
      [4, 'name must not contain U+0000 or a lone surrogate'],
      [5, 'tag must be string'],
      [6, 'record is not an object in braces'],
      [7, `record is not valid JSON: Unexpected token 'x', "x" is not valid JSON`],
      [8, 'record is not valid UTF-8'],
      [9, b],
    ],
  },
  {
    format: 'csv',
    options: { ignoreColumns: true },
    what: 'columns in any order, ignored columns, CRLF, blank lines and a byte order mark are accepted',
    file: ['\ufeff\nx,,name,id\r\n?,?,a,1\n\r\n\n"?",,"b","2"'],
    reads: [
      [3, a],
      [6, b],
    ],
  },
  {
    format: 'csv',
    what: 'an empty field means no tag, a pair of quotes an empty tag',
    file: ['id,name,tag\n1,a,\n2,b,""\n3,"",""\n4,,t\n,a,\n'],
    reads: [
      [2, a],
      [3, { ...b, tag: '' }],
      [4, { id: 3n, name: '', tag: '' }],
      [5, "must have required property 'name'"],
      [6, "must have required property 'id'"],
    ],
  },
  {
    format: 'csv',
    what: 'an id that is not an int64 is quoted up to 40 characters and without control characters',
    file: [`id,name\n1.23E+12,a\n\u001b[2J,b\n${'1'.repeat(41)},c\n`],
    reads: [
      [2, 'id must be an int64, not "1.23E+12"'],
      [3, 'id must be an int64, not "\\u001b[2J"'],
      [4, `id must be an int64, not "${'1'.repeat(40)}…"`],
    ],
  },
  {
    format: 'csv',
    options: { ignoreColumns: true },
    what: 'a record with a value in an ignored column is invalid',
    file: ['id,x,name\n,y,\n'],
    reads: [[2, "must have required property 'name'"]],
  },
  {
    format: 'csv',
    options: { canBeCutOff: true },
    what: 'a last line without a newline is refused, even if it ends with a quote',
    file: ['id,name\n1,a\n2,"b\nb"'],
    reads: [
      [2, a],
      [3, ENDS_WITHIN],
    ],
  },
  {
    format: 'ndjson',
    options: { canBeCutOff: true },
    what: 'a last line without a newline is a plant if it is complete',
    file: ['{"id":1,"name":"a"}'],
    reads: [[1, a]],
  },
  {
    format: 'ndjson',
    what: 'an invalid last line without a newline is reported as such',
    file: ['{"id":1,"name":"a"}\n{"id":2,"name":"b"'],
    reads: [
      [1, a],
      [
        2,
        "record is not valid JSON: Expected ',' or '}' after property value in JSON at position 18; the input ends within this line",
      ],
    ],
  },
  {
    format: 'csv',
    what: 'a record with another number of fields or invalid text is reported, and the next one is read',
    file: ['id,name,tag\n1,a\n1,a,t,u\n1,a\0,\n1,"\n', NOT_UTF8, '",é\n3,é,\n2,b,\n'],
    reads: [
      [2, 'row has 2 fields, but the first row has 3'],
      [3, 'row has 4 fields, but the first row has 3'],
      [4, 'name must not contain U+0000 or a lone surrogate'],
      [5, 'record is not valid UTF-8'],
      [7, { id: 3n, name: 'é' }],
      [8, b],
    ],
  },
  {
    format: 'csv',
    what: 'reading ends at a quote that is not closed',
    file: ['id,name,tag\n1,a,\n2,"b,t\n2,b,\n'],
    reads: [
      [2, a],
      [3, 'a quote is not closed'],
    ],
    error: unreadAfter(3),
  },
  {
    format: 'ndjson',
    what: 'an unknown property of a plant makes the record invalid if it is refused',
    options: { refuseMembers: true },
    file: ['{"id":1,"name":"a","T\\u0061g":"x"}\n{"id":1,"Name":"a"}\n{"id":2,"name":"b"}\n'],
    reads: [
      [1, 'unknown property "Tag" (did you mean "tag"?)'],
      [2, "must have required property 'name'"],
      [3, b],
    ],
  },
  {
    format: 'json',
    what: 'an invalid item is reported, and the next one is read',
    file: ['[5,null,{},{"id":1e16,"name":7},{"id":1,"name":"', NOT_UTF8, '"},{"id":2,"name":"b"}]'],
    reads: [
      [1, 'record is not an object in braces'],
      [2, 'record is not an object in braces'],
      [3, "must have required property 'name'"],
      [4, 'name must be string'],
      [5, 'record is not valid UTF-8'],
      [6, b],
    ],
  },
  {
    format: 'csv',
    options: { canBeCutOff: true },
    what: 'a header without a newline is refused',
    file: ['id,name'],
    reads: [],
    error: `line 1: ${ENDS_WITHIN}`,
  },
]

for (const { format, what, file, reads, options, error } of cases) {
  t.test(`${format}: ${what}`, async (t) => {
    const bytes = Buffer.concat(file.map((part) => Buffer.from(part)))
    const expected = error === undefined ? { reads } : { reads, error }
    for (const chunkBytes of [2 ** 16, 1, 7]) {
      const actual = await read(format, bytes, chunkBytes, options)
      t.same(actual, expected, `in chunks of ${chunkBytes} bytes`)
    }
  })
}

const NOT_AN_ARRAY = /^the file must contain a JSON array; use --format ndjson/
for (const { format, file, reads = [], says } of [
  { format: 'json', file: ' \n', says: NOT_AN_ARRAY },
  { format: 'json', file: '{"id":1,"name":"a"}\n{"id":2,"name":"b"}', says: NOT_AN_ARRAY },
  {
    format: 'ndjson',
    file: '\ufeff\n [{"id":1,"name":"a"}]',
    says: /^the file must have one JSON object per line; use --format json if/,
  },
  {
    format: 'json',
    file: '\ufeff[{"id":1,"name":"a"},',
    reads: [
      [1, a],
      [2, 'the file ends within the array'],
    ],
    says: 'reading ended at item 2: correct it and import the file again',
  },
] as { format: Format; file: string; reads?: Read[]; says: string | RegExp }[]) {
  t.test(`${format}: ${JSON.stringify(file)} is read up to its fault`, async (t) => {
    for (const chunkBytes of [1, 3, 2 ** 16]) {
      const { reads: actual, error } = await read(format, Buffer.from(file), chunkBytes)
      t.same(actual, reads)
      t.match(error, says)
    }
  })
}

t.test('json: an array of any size is read item by item', async (t) => {
  const item = JSON.stringify({ id: 1, name: 'x'.repeat(2 ** 20) })
  const count = 10
  let sent = 0
  let received = 0
  async function* source() {
    yield Buffer.from('[')
    for (; sent < count; sent += 1) {
      // Items that have been read do not accumulate.
      t.ok(sent - received <= 1)
      yield Buffer.from(`${sent === 0 ? '' : ','}${item}`)
    }
    yield Buffer.from(']')
  }
  for await (const { records } of readRecords('json', source(), { contract }))
    received += records.length
  t.equal(received, count)
})

t.test('csv: unknown columns are refused, listed and compared with the known ones', async (t) => {
  const rest = ': expected only id, name, tag'
  const cases = [
    ['id,name,Tag', `an unknown column, "Tag" (did you mean "tag"?)${rest}`],
    ['id,name,', `an unknown column, ""${rest}`],
    ['id,name,tags', `an unknown column, "tags" (did you mean "tag"?)${rest}`],
    ['id,colour,nmae,name', `2 unknown columns, "colour", "nmae" (did you mean "name"?)${rest}`],
    [
      `id,name,${'x'.repeat(50)},\x1b[2J\x7f\x80\x9f`,
      `2 unknown columns, "${'x'.repeat(40)}…", "\\u001b[2J\\u007f\\u0080\\u009f"${rest}`,
    ],
    [
      `id,name${',x'.repeat(1000)}`,
      /^line 1: the header has 1000 unknown columns, .* and 980 more:/,
    ],
  ] as const
  for (const [header, says] of cases) {
    const message = typeof says === 'string' ? `line 1: the header has ${says}` : says
    t.match((await read('csv', Buffer.from(`${header}\n`), 7)).error, message)
  }
  const { error } = await read('csv', Buffer.from('ID,Name\n'))
  t.match(error, /; it has 2 unknown columns, "ID" \(did you mean "id"\?\), "Name"/)
})

const invalidHeaders = [
  {
    header: '4,Abies alba Mill.,Tree\n',
    says: /^line 1: the header must include the columns id and name/,
  },
  { header: '', says: 'the file is empty: expected a header such as id,name,tag' },
  { header: '\ufeff\n,,\n', says: /^the file is empty/ },
  { header: 'id|name\n', says: /separated by a comma, semicolon or tab.* column, "id\|name"$/ },
  { header: '\n\nid,tag\n1,a', says: /^line 3: the header must include .* as in id,name,tag$/ },
  { header: 'id,name,id\n', says: 'line 1: the header names the column id twice' },
  { header: 'tag,id,name,tag\n', says: 'line 1: the header names the column tag twice' },
  { header: Buffer.from('id,name,\xe9\n', 'latin1'), says: 'line 1: record is not valid UTF-8' },
]

for (const { header, says } of invalidHeaders) {
  t.test(`csv: an invalid header is rejected (${says})`, async (t) => {
    const { reads, error } = await read('csv', Buffer.from(header), 10)
    t.same(reads, [])
    t.match(error, says)
  })
}

const NAME_LENGTH = RECORD_LENGTH_MAX - 100

for (const format of ['ndjson', 'csv'] as const) {
  const { header, line } = recordFormats[format]

  t.test(
    `${format}: a large record that arrives in small chunks is read in linear time`,
    async (t) => {
      const large = { id: 1n, name: ';'.repeat(NAME_LENGTH) }
      const bytes = Buffer.from(header + line(large) + line(b))
      const { reads } = await read(format, bytes, 1000)
      const results = reads.map(([, result]) => result)
      t.strictSame(results, [large, b])
    },
  )
}

t.test('ndjson: an oversized line is refused, and the next one is read', async (t) => {
  const large = 'x'.repeat(RECORD_LENGTH_MAX + 1)
  const bytes = Buffer.from(`${large}\n{"id":2,"name":"b"}\n${large}`)
  t.same(await read('ndjson', bytes), {
    reads: [
      [1, LARGE],
      [2, b],
      [3, LARGE],
    ],
  })
})

t.test(
  'ndjson: an oversized line that begins with spaces is not taken for a blank one',
  async (t) => {
    const bytes = Buffer.from(`${' '.repeat(RECORD_LENGTH_MAX + 1)}{"id":1,"name":"a"}\n`)
    for (const chunkBytes of [2 ** 16, bytes.length]) {
      t.same(await read('ndjson', bytes, chunkBytes), { reads: [[1, LARGE]] })
    }
  },
)

for (const [format, file, reads] of [
  ['ndjson', '{"id":1,"name":"a"}\n{"id":2,"name":"b"}', [a]],
  ['csv', 'id,name\n1,a\n2,b', [a]],
  ['json', '[{"id":1,"name":"a"},{"id":2,"name":"b"}', [a]],
] as const) {
  t.test(`${format}: if the source fails, only the records before that are read`, async (t) => {
    const failure = new Error('failed')
    async function* source() {
      yield Buffer.from(file)
      throw failure
    }
    const results: unknown[] = []
    async function readAll() {
      for await (const { records } of readRecords(format, source(), { contract })) {
        results.push(...records.map(({ result }) => result))
      }
    }
    t.equal(await t.rejects(readAll()), failure)
    t.strictSame(results, reads)
  })
}
