import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { codecs } from '../../src/transfer/codecs.ts'
import { exportFormats, type Format, formats } from '../../src/transfer/format.ts'
import type { ParseResult, ReaderOptions, RecordReader } from '../../src/transfer/record-reader.ts'
import { readRecords } from '../../src/transfer/record-stream.ts'
import { recordValidator } from '../../src/transfer/record-validator.ts'
import { storable } from '../helpers/arbitraries.ts'

const validate = recordValidator()
const LIMIT_BYTES = 60

type Read = [number: number, result: ParseResult | undefined]

/** Reads a file that arrives in chunks of `chunkBytes`. */
async function read(
  format: Format,
  bytes: Buffer,
  chunkBytes: number,
  limitBytes = LIMIT_BYTES,
  options?: ReaderOptions,
): Promise<Read[]> {
  async function* source() {
    for (let from = 0; from < bytes.length; from += chunkBytes) {
      yield bytes.subarray(from, from + chunkBytes)
    }
  }
  const batches = readRecords(source(), new codecs[format].Reader(validate, limitBytes, options))
  const records = await Array.fromAsync(batches, (batch) => batch.records)
  return records.flat().map(({ number, result }) => [number, result])
}

const a = { id: 1n, name: 'a' }
const b = { id: 2n, name: 'b' }
const LARGE = `record must not exceed ${LIMIT_BYTES} bytes`
const ENDS_WITHIN = 'the input ends within this line; end it with a newline if it is complete'
const NOT_UTF8 = Buffer.from([0xff])

/** Files, as lists of parts, and the records read from them. */
const cases: {
  format: Format
  what: string
  file: (string | Buffer)[]
  reads: Read[]
  options?: ReaderOptions
}[] = [
  { format: 'ndjson', what: 'an empty file has no records', file: [], reads: [] },
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
    what: 'ids beyond the precision of a double and empty tags are exact',
    file: ['{"id":9223372036854775807,"name":"","tag":""}\n'],
    reads: [[1, { id: 2n ** 63n - 1n, name: '', tag: '' }]],
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
      [6, 'must be object'],
      [7, 'record is not valid JSON: expected a value at byte 0'],
      [8, 'record is not valid UTF-8'],
      [9, b],
    ],
  },
  {
    format: 'ndjson',
    what: 'a syntax error is reported with its offset in the line',
    file: ['{"id":1,\n'],
    reads: [[1, 'record is not valid JSON: expected a member name in double quotes at byte 8']],
  },
  {
    format: 'ndjson',
    what: 'oversized lines are rejected, even at the end of the file',
    file: [`${' '.repeat(200)}{}\n{"id":2,"name":"b"}\n`, 'x'.repeat(200)],
    reads: [
      [1, LARGE],
      [2, b],
      [3, LARGE],
    ],
  },
  { format: 'csv', what: 'a header alone has no records', file: ['id,name,tag'], reads: [] },
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
    what: 'quoted fields can contain commas, quotes and line breaks, which count as lines',
    file: ['id,name,tag\n1,"a, ""b""\r\n\nc",\n2,b,"\n"\nx,,\n'],
    reads: [
      [2, { id: 1n, name: 'a, "b"\r\n\nc' }],
      [5, { id: 2n, name: 'b', tag: '\n' }],
      [7, 'id must be an int64, not "x"'],
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
    what: 'a byte order mark after the start of the file is text',
    file: ['id,name\n\ufeff1,a\n2,\ufeffb\n'],
    reads: [
      [2, 'id must be an int64, not "\ufeff1"'],
      [3, { id: 2n, name: '\ufeffb' }],
    ],
  },
  {
    format: 'csv',
    what: 'an id must be an int64 in decimal notation',
    file: ['id,name\n-9223372036854775808,a\n9223372036854775808,a\n01,a\n+1,a\n1.0,a\n" 1",a\n'],
    reads: [
      [2, { id: -(2n ** 63n), name: 'a' }],
      [3, 'id must be an int64, not "9223372036854775808"'],
      [4, 'id must be an int64, not "01"'],
      [5, 'id must be an int64, not "+1"'],
      [6, 'id must be an int64, not "1.0"'],
      [7, 'id must be an int64, not " 1"'],
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
    what: 'fields can be separated by semicolons, as in the header',
    file: ['\n;;\n"id";name;tag\r\n1;a;\r\n2;"b;";x,\ty\n3,c,\n'],
    reads: [
      [4, a],
      [5, { id: 2n, name: 'b;', tag: 'x,\ty' }],
      [6, 'record must have 3 fields, like the header, not 1'],
    ],
  },
  {
    format: 'csv',
    what: 'fields can be separated by tabs, as in the header',
    file: ['name\tid\na\t1\n";,\t"\t2\n'],
    reads: [
      [2, a],
      [3, { id: 2n, name: ';,\t' }],
    ],
  },
  {
    format: 'csv',
    options: { ignoreColumns: true },
    what: 'separators within a quoted name of the header are ignored',
    file: ['"x;""\n\t",id,name\n,1,a\n'],
    reads: [[3, a]],
  },
  {
    format: 'csv',
    what: 'a row without any value is neither a plant nor invalid, whatever its width',
    file: [',\n,,\nid,name,tag\n1,a,\n,,\r\n\n,\n,"",\n, ,\n,,'],
    reads: [
      [4, a],
      [5, undefined],
      [7, undefined],
      [8, "must have required property 'id'"],
      [9, "must have required property 'id'"],
      [10, undefined],
    ],
  },
  {
    format: 'csv',
    options: { ignoreColumns: true },
    what: 'a row with a value in an ignored column is invalid',
    file: ['id,x,name\n,y,\n'],
    reads: [[2, "must have required property 'name'"]],
  },
  {
    format: 'csv',
    options: { canBeCutOff: true },
    what: 'a last line without a newline is refused if the input can be cut off',
    file: ['id,name\n1,a\n2,"b\nb'],
    reads: [
      [2, a],
      [3, 'a quote is not closed'],
      [4, ENDS_WITHIN],
    ],
  },
  {
    format: 'csv',
    options: { canBeCutOff: true },
    what: 'so is one that ends with a quote, even if it spans several lines',
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
        "record is not valid JSON: expected ',' or '}' at byte 18; the input ends within this line",
      ],
    ],
  },
  {
    format: 'csv',
    what: 'reading resumes on the line after a malformed record',
    file: [
      'id,name,tag\n1,"a"b,t\n1,a"b,t\n1,"a\n2,b,\n2,"b",\n1,a\n1,a,t,u\n1,a\0,\n1,',
      NOT_UTF8,
      ',é\n3,é,\n2,b,\n1,"a',
    ],
    reads: [
      [2, 'a quote within a field must be doubled'],
      [3, 'a field that contains a quote must be quoted'],
      [4, 'a quote within a field must be doubled'],
      [5, b],
      [6, b],
      [7, 'record must have 3 fields, like the header, not 2'],
      [8, 'record must have 3 fields, like the header, not 4'],
      [9, 'name must not contain U+0000 or a lone surrogate'],
      [10, 'record is not valid UTF-8'],
      [11, { id: 3n, name: 'é' }],
      [12, b],
      [13, 'a quote is not closed'],
    ],
  },
  {
    format: 'csv',
    what: 'oversized records are rejected, with or without quotes, even at the end of the file',
    file: [
      `id,name\n1,${'x'.repeat(200)}\n2,b\n1,"${'x'.repeat(99)}\n3,c"\n2,b\n`,
      `1,"${'x'.repeat(200)}\n${'y'.repeat(200)}`,
    ],
    reads: [
      [2, LARGE],
      [3, b],
      [4, LARGE],
      [5, 'a field that contains a quote must be quoted'],
      [6, b],
      [7, LARGE],
      [8, LARGE],
    ],
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
  { format: 'json', what: 'an empty array has no records', file: ['\ufeff [ \n] \n'], reads: [] },
  {
    format: 'json',
    what: 'items are numbered, and can contain brackets, commas, quotes and line breaks',
    file: [
      '[{"id":1,"name":"a","x":[{"y":[]},"]}"]},\n{"id":3,\n"name":"]\\",\\\\"},{"id":2,"name":"b"}\n]',
    ],
    reads: [
      [1, a],
      [2, { id: 3n, name: ']",\\' }],
      [3, b],
    ],
  },
  {
    format: 'json',
    what: 'an invalid item is reported, and the next one is read',
    file: ['[,5,{"id":1,},{},}, ', NOT_UTF8, ',{"id":2,"name":"b"}]'],
    reads: [
      [1, 'record is not valid JSON: expected a value at byte 0'],
      [2, 'must be object'],
      [3, 'record is not valid JSON: expected a member name in double quotes at byte 8'],
      [4, "must have required property 'name'"],
      [5, 'record is not valid JSON: expected a value at byte 0'],
      [6, 'record is not valid UTF-8'],
      [7, b],
    ],
  },
  {
    format: 'json',
    what: 'an oversized item is refused once',
    file: [`[{"id":1,"name":"${'x'.repeat(200)}"},{"id":2,"name":"b"},"${'[,'.repeat(99)}"]`],
    reads: [
      [1, LARGE],
      [2, b],
      [3, LARGE],
    ],
  },
]

for (const { format, what, file, reads, options } of cases) {
  t.test(`${format}: ${what}`, async (t) => {
    const bytes = Buffer.concat(file.map((part) => Buffer.from(part)))
    for (const chunkBytes of [2 ** 16, 1, 2, 3, 7, 64, 100]) {
      t.same(
        await read(format, bytes, chunkBytes, LIMIT_BYTES, options),
        reads,
        `in chunks of ${chunkBytes} bytes`,
      )
    }
  })
}

const NOT_CLOSED = /^the JSON array is not closed after item \d+$/
const BROKEN_ARRAYS = [
  { file: ' \n', says: 'the file contains no JSON array' },
  { file: '{"id":1,"name":"a"}', says: /^the file must contain a JSON array; use --format ndjson/ },
  { file: '[{"id":1,"name":"a"}] x', says: 'the JSON array must not be followed by anything else' },
  { file: '[', says: NOT_CLOSED },
  { file: '[{"id":1,"name":"a"}', says: NOT_CLOSED },
  { file: '[{"id":1,"name":"a"},', says: NOT_CLOSED },
  { file: `[${'5,'.repeat(1000)}`, says: 'the JSON array is not closed after item 1000' },
  { file: `["${'x'.repeat(100)}`, says: NOT_CLOSED },
]

for (const { file, says } of BROKEN_ARRAYS) {
  t.test(`json: ${file.slice(0, 25)} is rejected (${says})`, async (t) => {
    for (const chunkBytes of [1, 3, 2 ** 16]) {
      await t.rejects(read('json', Buffer.from(file), chunkBytes), { name: 'Error', message: says })
    }
  })
}

t.test('csv: unknown columns are refused, listed and compared with the known ones', async (t) => {
  const rest = ': expected only id, name, tag'
  const cases = [
    ['id,name,Tag', `an unknown column, "Tag" (did you mean "tag"?)${rest}`],
    ['id,name,', `an unknown column, ""${rest}`],
    ['id,colour,nmae,name', `2 unknown columns, "colour", "nmae" (did you mean "name"?)${rest}`],
    [
      `id,name,${'x'.repeat(50)},\x1b[2J`,
      `2 unknown columns, "${'x'.repeat(40)}…", "\\u001b[2J"${rest}`,
    ],
    [
      `id,name${',x'.repeat(1000)}`,
      /^line 1: the header has 1000 unknown columns, .* and 980 more:/,
    ],
  ] as const
  for (const [header, says] of cases) {
    const message = typeof says === 'string' ? `line 1: the header has ${says}` : says
    await t.rejects(read('csv', Buffer.from(`${header}\n`), 7, 10_000), { message })
  }
  const message = /; it has 2 unknown columns, "ID" \(did you mean "id"\?\), "Name"/
  await t.rejects(read('csv', Buffer.from('ID,Name\n'), 100), { message })
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
  { header: 'id,"name\n', says: 'line 1: a quote is not closed' },
  { header: Buffer.from('id,name,\xe9\n', 'latin1'), says: 'line 1: record is not valid UTF-8' },
  { header: 'x'.repeat(200), says: `line 1: ${LARGE}` },
]

for (const { header, says } of invalidHeaders) {
  t.test(`csv: an invalid header is rejected (${says})`, async (t) => {
    await t.rejects(read('csv', Buffer.from(header), 10), { name: 'Error', message: says })
  })
}

for (const format of exportFormats) {
  t.test(`${format}: a record can be much larger than a chunk`, async (t) => {
    const large = { id: 1n, name: '\n"'.repeat(2 ** 18) }
    const { header, line } = codecs[format]
    const bytes = Buffer.from(header + line(large) + line(b))
    const results = (await read(format, bytes, 2 ** 16, 2 ** 21)).map(([, result]) => result)
    t.strictSame(results, [large, b])
  })
}

for (const format of formats) {
  t.test(`${format}: if the source fails, only the records before that are read`, async (t) => {
    const records = [a, b].map(({ id, name }) => `{"id":${id},"name":"${name}"}`)
    const file = { ndjson: records.join('\n'), csv: 'id,name\n1,a\n2,b', json: `[${records}` }
    const failure = new Error('failed')
    async function* source() {
      yield Buffer.from(file[format])
      throw failure
    }
    const reader = new codecs[format].Reader(validate, LIMIT_BYTES)
    const read: (ParseResult | undefined)[] = []
    const reading = async () => {
      for await (const batch of readRecords(source(), reader)) {
        read.push(...batch.records.map(({ result }) => result))
      }
    }
    t.equal(await t.rejects(reading()), failure)
    t.strictSame(read, [a])
  })
}

t.test('a large record that arrives in small chunks is read in linear time', async (t) => {
  let reads = 0
  const reader: RecordReader = {
    read(bytes, isLast) {
      reads += 1
      return { records: [], length: isLast ? bytes.length : 0, more: false }
    },
  }
  const source = Readable.from(Array.from({ length: 1000 }, () => Buffer.alloc(1000)))
  const batches = await Array.fromAsync(readRecords(source, reader))
  t.equal(batches.at(-1)?.position, 1_000_000)
  t.ok(reads < 20, `${reads} reads`)
})

for (const format of exportFormats) {
  t.test(`${format}: reading many small records yields to the event loop`, async (t) => {
    const bytes = Buffer.from(codecs[format].header + '\nx\n'.repeat(5000))
    let turns = 0
    const count = () => {
      turns += 1
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const records = await read(format, bytes, bytes.length)
    clearImmediate(immediate)
    t.equal(records.length, 5000)
    t.ok(turns >= 9, `${turns} turns`)
  })
}

t.test('every plant is read back exactly from every format', async () => {
  const plant = fc.record(
    {
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      name: fc.oneof(storable, fc.constantFrom('', ' ', ',', '"', '\r', '\n', '\ufeff', '\u2028')),
      tag: fc.oneof(storable, fc.constantFrom('', '"', '\r\n', 'null')),
    },
    { requiredKeys: ['id', 'name'], noNullPrototype: true },
  )
  for (const format of exportFormats) {
    await fc.assert(
      fc.asyncProperty(fc.array(plant), fc.integer({ min: 1, max: 300 }), async (plants, size) => {
        const { header, line } = codecs[format]
        const bytes = Buffer.from(header + plants.map(line).join(''))
        const results = (await read(format, bytes, size, 1000)).map(([, result]) => result)
        assert.deepEqual(results, plants)
      }),
    )
  }
})
