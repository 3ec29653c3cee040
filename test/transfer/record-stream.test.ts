import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { codecs } from '../../src/transfer/codecs.ts'
import { type Content, plantCheck } from '../../src/transfer/entry.ts'
import { type Format, formats } from '../../src/transfer/format.ts'
import type { RecordReader } from '../../src/transfer/record-reader.ts'
import { readBatches } from '../../src/transfer/record-stream.ts'
import { storable } from '../helpers/arbitraries.ts'

const check = plantCheck()
const LIMIT = 60

type Read = [line: number, content: Content]

/** What is read from a catalogue that comes in chunks of so many bytes. */
async function read(format: Format, bytes: Buffer, size: number, limit = LIMIT): Promise<Read[]> {
  async function* source() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
  }
  const batches = readBatches(source(), new codecs[format].Reader(check, limit))
  const entries = await Array.fromAsync(batches, (batch) => batch.entries)
  return entries.flat().map(({ line, content }) => [line, content])
}

const a = { id: 1n, name: 'a' }
const b = { id: 2n, name: 'b' }
const LARGE = `record must not be larger than ${LIMIT} bytes`
const NO_UTF8 = Buffer.from([0xff])

/** Catalogues, and what is read from them: the line of each record, with the plant or the reason. */
const cases: { format: Format; what: string; catalogue: (string | Buffer)[]; reads: Read[] }[] = [
  { format: 'ndjson', what: 'nothing', catalogue: [], reads: [] },
  {
    format: 'ndjson',
    what: 'lines with either ending, blank ones, unknown members, a byte order mark',
    catalogue: ['\ufeff{"id":1,"name":"a","x":[1]}\r\n\n \t\r\n{"name":"b","id":2.0}'],
    reads: [
      [1, a],
      [4, b],
    ],
  },
  {
    format: 'ndjson',
    what: 'ids that a double cannot hold, and a tag without text',
    catalogue: ['{"id":9223372036854775807,"name":"","tag":""}\n'],
    reads: [[1, { id: 2n ** 63n - 1n, name: '', tag: '' }]],
  },
  {
    format: 'ndjson',
    what: 'records that the API would refuse, each with its line and the words of the API',
    catalogue: [
      '{"id":9223372036854775808,"name":"a"}\n{"id":1}\n{"id":1,"name":7}\n{"id":1,"name":"\\u0000"}\n',
      '{"id":1,"name":"a","tag":null}\n[]\nx\n{"id":1,"name":"',
      NO_UTF8,
      '"}\n{"id":2,"name":"b"}\n',
    ],
    reads: [
      [1, 'id must be an int64'],
      [2, "must have required property 'name'"],
      [3, 'name must be string'],
      [4, 'name must not contain U+0000 or a lone surrogate'],
      [5, 'tag must be string'],
      [6, 'must be object'],
      [7, 'record is not JSON: expected a value at byte 0'],
      [8, 'record is not UTF-8'],
      [9, b],
    ],
  },
  {
    format: 'ndjson',
    what: 'the offset of an error in a line',
    catalogue: ['{"id":1,\n'],
    reads: [[1, 'record is not JSON: expected a member name in double quotes at byte 8']],
  },
  {
    format: 'ndjson',
    what: 'lines that are too large, the last one among them',
    catalogue: [`${' '.repeat(200)}{}\n{"id":2,"name":"b"}\n`, 'x'.repeat(200)],
    reads: [
      [1, LARGE],
      [2, b],
      [3, LARGE],
    ],
  },
  { format: 'csv', what: 'nothing', catalogue: [], reads: [] },
  { format: 'csv', what: 'just a header', catalogue: ['id,name,tag'], reads: [] },
  {
    format: 'csv',
    what: 'columns in any order, unknown ones, either line ending, blank lines, a byte order mark',
    catalogue: ['\ufeff\nx,,name,id\r\n?,?,a,1\n\r\n\n"?",,"b","2"'],
    reads: [
      [3, a],
      [6, b],
    ],
  },
  {
    format: 'csv',
    what: 'commas, quotes and line breaks in quotes, and the lines behind them',
    catalogue: ['id,name,tag\n1,"a, ""b""\r\n\nc",\n2,b,"\n"\nx,,\n'],
    reads: [
      [2, { id: 1n, name: 'a, "b"\r\n\nc' }],
      [5, { id: 2n, name: 'b', tag: '\n' }],
      [7, "must have required property 'name'"],
    ],
  },
  {
    format: 'csv',
    what: 'no tag where there is nothing, an empty one where there are quotes',
    catalogue: ['id,name,tag\n1,a,\n2,b,""\n3,"",""\n4,,t\n,a,\n'],
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
    what: 'a byte order mark that is not at the beginning as the text that it is',
    catalogue: ['id,name\n\ufeff1,a\n2,\ufeffb\n'],
    reads: [
      [2, 'id must be an int64'],
      [3, { id: 2n, name: '\ufeffb' }],
    ],
  },
  {
    format: 'csv',
    what: 'only ids that are decimals of an int64',
    catalogue: [
      'id,name\n-9223372036854775808,a\n9223372036854775808,a\n01,a\n+1,a\n1.0,a\n" 1",a\n',
    ],
    reads: [
      [2, { id: -(2n ** 63n), name: 'a' }],
      ...[3, 4, 5, 6, 7].map((line): Read => [line, 'id must be an int64']),
    ],
  },
  {
    format: 'csv',
    what: 'a record that is malformed, and then the next line',
    catalogue: [
      'id,name,tag\n1,"a"b,t\n1,a"b,t\n1,"a\n2,b,\n2,"b",\n1,a\n1,a,t,u\n1,a\0,\n1,',
      NO_UTF8,
      ',é\n3,é,\n2,b,\n1,"a',
    ],
    reads: [
      [2, 'a quote within a field must be doubled'],
      [3, 'a field that contains a quote must be quoted'],
      [4, 'a quote within a field must be doubled'],
      [5, b],
      [6, b],
      [7, 'record must have 3 fields, as the header has, not 2'],
      [8, 'record must have 3 fields, as the header has, not 4'],
      [9, 'name must not contain U+0000 or a lone surrogate'],
      [10, 'record is not UTF-8'],
      [11, { id: 3n, name: 'é' }],
      [12, b],
      [13, 'a quote is not closed'],
    ],
  },
  {
    format: 'csv',
    what: 'records that are too large, with and without quotes, the last one among them',
    catalogue: [
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
]

for (const { format, what, catalogue, reads } of cases) {
  t.test(`${format}: ${what}; however the bytes come in`, async (t) => {
    const bytes = Buffer.concat(catalogue.map((part) => Buffer.from(part)))
    for (const size of [2 ** 16, 1, 2, 3, 7, 64, 100]) {
      t.same(await read(format, bytes, size), reads, `${size} bytes at a time`)
    }
  })
}

const headers = [
  {
    header: '4,Abies alba Mill.,Tree\n',
    says: /^line 1: the header must name the columns, id and/,
  },
  { header: '\n\nid,tag\n1,a', says: /^line 3: the header must name .* as in id,name,tag$/ },
  { header: 'id,name,id\n', says: 'line 1: the header names the column id twice' },
  { header: 'tag,id,name,tag\n', says: 'line 1: the header names the column tag twice' },
  { header: 'id,"name\n', says: 'line 1: a quote is not closed' },
  { header: Buffer.from('id,name,\xe9\n', 'latin1'), says: 'line 1: record is not UTF-8' },
  { header: 'x'.repeat(200), says: `line 1: ${LARGE}` },
]

for (const { header, says } of headers) {
  t.test(`csv: without a header nothing is read (${says})`, async (t) => {
    await t.rejects(read('csv', Buffer.from(header), 10), { name: 'Error', message: says })
  })
}

for (const format of formats) {
  t.test(`${format}: a record may be much larger than what comes in at a time`, async (t) => {
    const large = { id: 1n, name: '\n"'.repeat(2 ** 18) }
    const { header, line } = codecs[format]
    const bytes = Buffer.from(header + line(large) + line(b))
    const contents = (await read(format, bytes, 2 ** 16, 2 ** 21)).map(([, content]) => content)
    t.strictSame(contents, [large, b])
  })
}

t.test('however small the chunks, a large record is not read over and over', async (t) => {
  let reads = 0
  const reader: RecordReader = {
    read(bytes, ended) {
      reads += 1
      return { entries: [], length: ended ? bytes.length : 0, more: false }
    },
  }
  const source = Readable.from(Array.from({ length: 1000 }, () => Buffer.alloc(1000)))
  const batches = await Array.fromAsync(readBatches(source, reader))
  t.equal(batches.at(-1)?.position, 1_000_000)
  t.ok(reads < 20, `${reads} times`)
})

for (const format of formats) {
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

t.test('a plant that is written is read again as it was, in any format', async () => {
  const plant = fc.record(
    {
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      name: fc.oneof(storable, fc.constantFrom('', ' ', ',', '"', '\r', '\n', '\ufeff', '\u2028')),
      tag: fc.oneof(storable, fc.constantFrom('', '"', '\r\n', 'null')),
    },
    { requiredKeys: ['id', 'name'], noNullPrototype: true },
  )
  for (const format of formats) {
    await fc.assert(
      fc.asyncProperty(fc.array(plant), fc.integer({ min: 1, max: 300 }), async (plants, size) => {
        const { header, line } = codecs[format]
        const bytes = Buffer.from(header + plants.map(line).join(''))
        const contents = (await read(format, bytes, size, 1000)).map(([, content]) => content)
        assert.deepEqual(contents, plants)
      }),
    )
  }
})
