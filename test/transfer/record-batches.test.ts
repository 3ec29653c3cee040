import t from 'tap'
import { RECORD_LENGTH_MAX } from '../../core/files/file-record.ts'
import { recordFormats } from '../../core/files/record-formats.ts'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import { writeWorkbook } from '../../core/files/xlsx/workbook-writer.ts'
import { members } from '../../core/members/members.gen.ts'
import {
  describeReading,
  openRecords,
  type ReadOptions,
} from '../../src/transfer/record-batches.ts'

type Format = 'ndjson' | 'csv' | 'json' | 'xlsx'

type Options = Partial<ReadOptions>

type Read = [number: number, result: RecordValues | string | undefined]

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
    const { batches } = await openRecords(split(bytes, chunkBytes), {
      file: `plants.${format}`,
      format,
      members,
      ...options,
    })
    for await (const { records } of batches) {
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
    what: 'invalid records are reported with their line',
    file: [
      '{"id":9223372036854775808,"name":"a"}\n{"id":1}\n{"id":1,"name":7}\n{"id":1,"name":"\\u0000"}\n',
      '{"id":1,"name":"a","tag":null}\n[]\nx\n{"id":1,"name":"',
      NOT_UTF8,
      '"}\n{"id":2,"name":"b"}\n',
    ],
    reads: [
      [1, 'id must be between -9223372036854775808 and 9223372036854775807'],
      [2, { id: 1n }],
      [3, 'name must be text'],
      [4, 'name must not contain U+0000 or a lone surrogate, not "\\u0000"'],
      [5, { ...a, tag: null }],
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
      [2, { ...a, tag: null }],
      [3, { ...b, tag: '' }],
      [4, { id: 3n, name: '', tag: '' }],
      [5, { id: 4n, name: null, tag: 't' }],
      [6, { id: null, name: 'a', tag: null }],
    ],
  },
  {
    format: 'csv',
    what: 'an id that is not an int64 is quoted up to 40 characters and without control characters',
    file: [`id,name\n1.23E+12,a\n\u001b[2J,b\n${'1'.repeat(41)},c\n`],
    reads: [
      [2, 'id must be a whole number, written like 4 or -12, not "1.23E+12"'],
      [3, 'id must be a whole number, written like 4 or -12, not "\\u001b[2J"'],
      [
        4,
        `id must be between -9223372036854775808 and 9223372036854775807, not "${'1'.repeat(40)}…"`,
      ],
    ],
  },
  {
    format: 'csv',
    options: { ignoreColumns: true },
    what: 'a record with a value in an ignored column is not blank',
    file: ['id,x,name\n,y,\n'],
    reads: [[2, { id: null, name: null }]],
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
      [4, 'name must not contain U+0000 or a lone surrogate, not "a\\u0000"'],
      [5, 'record is not valid UTF-8'],
      [7, { id: 3n, name: 'é', tag: null }],
      [8, { ...b, tag: null }],
    ],
  },
  {
    format: 'csv',
    what: 'a quote that is not closed costs a record',
    file: ['id,name,tag\n1,a,\n2,"b,t\n2,b,\n'],
    reads: [
      [2, { ...a, tag: null }],
      [3, 'a quote is not closed'],
      [4, { ...b, tag: null }],
    ],
  },
  {
    format: 'ndjson',
    what: 'an unknown property of a plant makes the record invalid if it is refused',
    options: { refuseMembers: true },
    file: ['{"id":1,"name":"a","T\\u0061gg":"x"}\n{"id":1,"Name":"a"}\n{"id":2,"name":"b"}\n'],
    reads: [
      [1, 'unknown property "Tagg" (did you mean "tag"?)'],
      [2, 'unknown property "Name" (did you mean "name"?)'],
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
      [3, {}],
      [4, 'name must be text'],
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
    error: ENDS_WITHIN,
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

t.test('json: an array that does not end is read up to its end', async (t) => {
  for (const chunkBytes of [1, 3, 2 ** 16]) {
    const { reads, error } = await read(
      'json',
      Buffer.from('\ufeff[{"id":1,"name":"a"},'),
      chunkBytes,
    )
    t.same(reads, [[1, a]])
    t.equal(error, 'item 2: the file ends within the array. The file cannot be read from there')
  }
})

t.test('the name of a file does not matter unless it is empty', async (t) => {
  const file = 'plants.ndjson'
  t.same(await read('csv', Buffer.from('[{"id":1,"name":"a"}]'), 9, { file, format: undefined }), {
    reads: [[1, a]],
  })
  t.same(await read('csv', Buffer.from(''), 9, { file, format: undefined }), { reads: [] })
  const { error } = await read('csv', Buffer.from(''), 9, { format: undefined })
  t.equal(error, 'this file is empty')
})

t.test('damage is described', async (t) => {
  const csv = Buffer.from('id,name\n1.0E+15,a\n2,Malus Ã— domestica\n')
  const source = await openRecords(split(csv, 9), { file: 'a', members })
  for await (const _ of source.batches);
  t.match(source.describeDamage(), [
    /^Line 2: the id 1.0E\+15 is in scientific /,
    /^Line 3: the name Malus Ã— /,
  ])
})

t.test('columns can be chosen', async (t) => {
  const file = Buffer.from('Nr;Taxon;Author;x\n1;Abies alba;Mill.;7\n')
  const columns = ['name=Taxon', 'name=Author', 'tag=x']
  t.same(await read('csv', file, 99, { columns }), {
    reads: [[2, { id: 1n, name: 'Abies alba Mill.', tag: '7' }]],
  })
  for (const [choice, says] of [
    ['height=x', /^--column "height=x": expected a member and a column, as in name=Taxon; the /],
    ['name', /^--column "name": expected a member and a column/],
    ['name=y', /the file has no such column; its columns are "Nr", "Taxon", "Author", "x"$/],
  ] as const) {
    t.match((await read('csv', file, 99, { columns: [choice] })).error, says)
  }
})

t.test('a choice that has no effect is refused', async (t) => {
  const csv = Buffer.from('id,name\n1,a\n')
  const wrapped = Buffer.from('{"a":[{"id":1,"name":"a"}],"b":[{}]}')
  const refusals: [Buffer, Options, string][] = [
    [csv, { format: undefined, sheet: 'A' }, '--sheet has no effect on csv: omit it'],
    [csv, { format: undefined, array: 'a' }, '--array has no effect on csv: omit it'],
    [wrapped, { format: undefined, separator: ';' }, '--separator has no effect on json: omit it'],
    [csv, { format: 'xlsx' }, 'the file is csv, not xlsx: omit --format'],
    [
      wrapped,
      { format: undefined, array: 'c' },
      'there is no array of that name in this file. Its arrays are a, b',
    ],
    [csv, { header: 9 }, 'there is no line 9 with column names in this file'],
  ]
  for (const [file, options, error] of refusals) {
    t.same(await read('csv', file, 99, options), { reads: [], error })
  }
})

t.test('how a file is read is shown unless it is as the service writes it', async (t) => {
  for (const [content, says, options] of [
    ['id,name,tag\n1,a,\n', ''],
    ['{"id":1,"name":"a"}\n', ''],
    ['Nr;Name\n1;a\n', 'read as csv: id from "Nr", name from "Name"\n'],
    [
      '1\ta\n2\tb\n',
      'read as csv: header none, id from "Column 1", name from "Column 2"\n',
      { columns: ['id=Column 1'] },
    ],
    ['{"data":[{"id":1,"name":"a"}]}', 'read as json: array data\n'],
    [
      Buffer.from('id,genus,species\n1,\xe9,b\n', 'latin1'),
      'read as csv: windows-1252, name from "genus" and "species"\n',
    ],
  ] as [string | Buffer, string, Options?][]) {
    const source = await openRecords(split(Buffer.from(content), 9), {
      file: '-',
      members,
      ...options,
    })
    t.equal(describeReading(source), says)
  }
})

t.test('json: an array of any size is read item by item', async (t) => {
  const item = JSON.stringify({ id: 1, name: 'x'.repeat(2 ** 20) })
  const count = 10
  let sent = 0
  let received = 0
  async function* source() {
    yield Buffer.from('[')
    for (; sent < count; sent += 1) {
      // Items that have been read do not accumulate.
      t.ok(sent - received <= 2)
      yield Buffer.from(`${sent === 0 ? '' : ','}${item}`)
    }
    yield Buffer.from(']')
  }
  const { batches } = await openRecords(source(), { file: 'a', members })
  for await (const { records } of batches) received += records.length
  t.equal(received, count)
})

t.test('csv: unknown columns are refused, listed and compared with the known ones', async (t) => {
  const rest = ': expected only id, name and tag'
  const cases = [
    ['id,name,', `an unknown column, "Column 3"${rest}`],
    ['id,name,tagg', `an unknown column, "tagg" (did you mean "tag"?)${rest}`],
    ['id,colour,nmae,name', `2 unknown columns, "colour", "nmae" (did you mean "name"?)${rest}`],
    [
      `id,name,${'x'.repeat(50)},\x1b[2J\x7f\x80\x9f`,
      `2 unknown columns, "${'x'.repeat(40)}…", "\\u001b[2J\\u007f\\u0080\\u009f"${rest}`,
    ],
    [`id,name${',x'.repeat(1000)}`, /^the file has 1000 unknown columns, .* and 980 more:/],
  ] as const
  for (const [header, says] of cases) {
    const message = typeof says === 'string' ? `the file has ${says}` : says
    t.match((await read('csv', Buffer.from(`${header}\n`), 7)).error, message)
  }
})

const invalidHeaders = [
  {
    header: '4,Abies alba Mill.,Tree\n',
    says: /^the file has no column for id: name it in the header, as in id,name,tag, or choose it, as in --column id=COLUMN; without ids, use --match or --new-ids; its columns are "Column 1", "Column 2", "Column 3"$/,
  },
  { header: '\ufeff\n\n', says: 'the file is empty: expected a header such as id,name,tag' },
  { header: '\n\nid,tag\n1,a', says: /^the file has no column for name: / },
  { header: 'id,name,id\n', says: /^the file has an unknown column, "id \(column 3\)"/ },
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
      t.match(results, [large, b])
    },
  )
}

t.test('a workbook without plants can arrive through a pipe', async (t) => {
  const parts: Uint8Array[] = []
  for await (const part of writeWorkbook(members, (async function* () {})())) parts.push(part)
  const bytes = Buffer.concat(parts)
  const options = { format: undefined, canBeCutOff: true }
  t.same(await read('xlsx', bytes, 100, options), { reads: [] })
})

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

for (const format of ['ndjson', 'csv', 'json'] as const) {
  t.test(`${format}: if the source fails, only the records before that are read`, async (t) => {
    const failure = new Error('failed')
    const lines = {
      ndjson: ['', '{"id":1,"name":"a"}\n'],
      csv: ['id,name\n', '1,a\n'],
      json: ['[', '{"id":1,"name":"a"},\n'],
    }
    const [start = '', line = ''] = lines[format]
    async function* source() {
      yield Buffer.from(start + line.repeat(2 ** 19))
      yield Buffer.from(line.slice(0, -3))
      throw failure
    }
    let count = 0
    const { batches } = await openRecords(source(), { file: 'a', members })
    async function readAll() {
      for await (const { records } of batches) count += records.length
    }
    t.equal(await t.rejects(readAll()), failure)
    t.equal(count, 2 ** 19)
  })
}
