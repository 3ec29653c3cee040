import t from 'tap'
import {
  describeBytes,
  FILE_BYTES_MAX,
  FileProblem,
  readText,
} from '../../../page/transfer/file/file-kind.ts'
import { openFile } from '../../../page/transfer/file/import-file.ts'

type Content = string | Uint8Array<ArrayBuffer>

function fileOf(content: Content | readonly Content[], name = 'plants.csv'): File {
  return new File([content].flat(), name)
}

const CSV = 'id,name,tag\n4,Abies é €,\n'

function utf16(text: string, isBigEndian: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))
  return isBigEndian ? new Uint8Array(Buffer.from(bytes).swap16()) : bytes
}

for (const { encoding, content } of [
  { encoding: 'utf-8', content: CSV },
  { encoding: 'utf-8', content: `\ufeff${CSV}` },
  { encoding: 'utf-16le', content: utf16(CSV, false) },
  { encoding: 'utf-16be', content: utf16(CSV, true) },
  {
    encoding: 'windows-1252',
    content: new Uint8Array(Buffer.from(CSV.replace('€', '\x80'), 'latin1')),
  },
]) {
  t.test(`${encoding} is recognized`, async (t) => {
    const file = await openFile(fileOf(content))
    t.equal(file.encoding, encoding)
    t.same(file.columns[0], { key: '0', name: 'id' }, 'no byte order mark remains')
    t.equal(file.sample[0]?.values[1], 'Abies é €')
  })
}

t.test('invalid UTF-8 is found anywhere in a file', async (t) => {
  const record = '4,Abies alba Mill.,Tree\n'
  const bytes = [CSV, record.repeat(2 ** 15), new Uint8Array([0xe9]), `,\n${record}`]
  t.equal((await openFile(fileOf(bytes))).encoding, 'windows-1252')
  t.equal((await openFile(fileOf([CSV, new Uint8Array([0xe2, 0x82])]))).encoding, 'windows-1252')
})

t.test('a character can be split between two reads', async (t) => {
  const text = `id,name\n4,${'é'.repeat(2 ** 17)}`
  let read = ''
  for await (const part of readText(fileOf(text), 'utf-8')) read += part
  t.equal(read, text)
})

for (const { format, content, columns } of [
  { format: 'csv', content: 'id;name\n4;Abies', columns: ['id', 'name'] },
  { format: 'csv', content: ' Plant , ,x\n4,Abies,', columns: [' Plant ', ' ', 'x'] },
  { format: 'csv', content: 'a,,b\n4,Abies,', columns: ['a', '', 'b'] },
  { format: 'ndjson', content: '\n {"id":4}\n{"name":"a","id":5}', columns: ['id', 'name'] },
  { format: 'json', content: '\n[{"id":4},{"x":"a","id":5}]', columns: ['id', 'x'] },
]) {
  t.test(`${JSON.stringify(content)} is ${format}, whatever its name`, async (t) => {
    for (const name of ['plants.csv', 'plants.ndjson', 'plants.json', 'plants']) {
      const file = await openFile(fileOf(content, name))
      t.equal(file.format, format)
      t.same(
        file.columns.map(({ name }) => name),
        columns,
      )
    }
  })
}

t.test('a file is read again from its start, with progress in bytes', async (t) => {
  const content = `id,name\n${'4,Abies alba Mill.\n'.repeat(20_000)}`
  const file = await openFile(fileOf(content))
  t.equal(file.sample.length, 8)
  const progress: number[] = []
  const records = await Array.fromAsync(file.records((bytes) => progress.push(bytes)))
  t.equal(records.length, 20_000)
  t.ok(progress.length > 2)
  t.equal(progress.at(-1), content.length)
  t.same(
    [...progress].sort((a, b) => a - b),
    progress,
  )
  const json = await openFile(fileOf('{"id":4}\n{"id":5}'))
  t.equal((await Array.fromAsync(json.records())).length, 2)
})

t.test('objects with thousands of members offer a hundred', async (t) => {
  const names = Array.from({ length: 5000 }, (_, index) => `"m${index}":1`)
  t.equal((await openFile(fileOf(`{${names}}`))).columns.length, 100)
})

for (const { what, content, columns, records, header } of [
  {
    what: 'a title of one cell',
    content: 'My plants;\n;\nid;name\n4;Abies\n',
    header: 3,
    columns: ['id', 'name'],
    records: [[4, '4', 'Abies']],
  },
  {
    what: 'no header',
    content: '4,Abies\n5,Acer\n',
    header: 'none',
    columns: ['', ''],
    records: [
      [1, '4', 'Abies'],
      [2, '5', 'Acer'],
    ],
  },
  {
    what: 'a year in the header',
    content: 'name,2026\nAbies,x\n',
    header: 1,
    columns: ['name', '2026'],
    records: [[2, 'Abies', 'x']],
  },
  {
    what: 'quotes within fields',
    content: 'id,name\n4,5" pot "Abies"\n',
    header: 1,
    columns: ['id', 'name'],
    records: [[2, '4', '5" pot "Abies"']],
  },
  {
    what: 'an array in an object',
    content: JSON.stringify({ count: 2, plants: [{ id: 4 }, { id: 5 }], next: null }),
    header: undefined,
    columns: ['id'],
    records: [
      [1, 4n],
      [2, 5n],
    ],
  },
  {
    what: 'an array in an object with line breaks',
    content: JSON.stringify({ 'a "b"': [{ id: 4 }] }, null, 2),
    header: undefined,
    columns: ['id'],
    records: [[1, 4n]],
  },
  {
    what: 'a single column',
    content: 'Abies\nAcer\n',
    header: 1,
    columns: ['Abies'],
    records: [[2, 'Acer']],
  },
] as const) {
  t.test(`${what} is understood`, async (t) => {
    const file = await openFile(fileOf(content))
    t.equal(file.header, header)
    t.same(
      file.columns.map(({ name }) => name),
      columns,
    )
    const read = await Array.fromAsync(file.records())
    t.strictSame(
      read.map(({ number, values, problem }) => [problem ?? number, ...Object.values(values)]),
      records,
    )
  })
}

t.test('another line can be the header', async (t) => {
  const content = 'Plants, in 3" pots\r\n\r\nid;name\r\n4;Abies\r\n'
  const file = await openFile(fileOf(content))
  t.equal(file.header, 1)
  t.same(file.candidates[1], { line: 3, text: 'id;name' })
  const other = await file.withHeader(3)
  t.same(
    other.columns.map(({ name }) => name),
    ['id', 'name'],
  )
  t.match(await Array.fromAsync(other.records()), [{ number: 4, values: { 0: '4', 1: 'Abies' } }])
  const none = await other.withHeader('none')
  t.equal((await Array.fromAsync(none.records())).length, 3)
  const problem = await openFile(fileOf('id,name\n4,a\n"5"6,b'), 2).catch(({ message }) => message)
  t.match(problem, 'Line 3: a quote within a field must be doubled.')
})

t.test('a record of NDJSON can begin with an array', async (t) => {
  const file = await openFile(fileOf('{"names":[{"a":1}],"id":4}\n{"names":[],"id":5}\n'))
  t.equal(file.format, 'ndjson')
  t.equal((await Array.fromAsync(file.records())).length, 2)
})

for (const { what, content, name, message } of [
  { what: 'an empty file', content: '', message: 'This file is empty.' },
  { what: 'blank lines', content: '\n\n', message: 'There are no plants in this file.' },
  { what: 'an empty array', content: '[]', message: 'There are no plants in this file.' },
  {
    what: 'a header',
    content: 'id,name\n',
    message: 'There are no plants in this file, only column names.',
  },
  {
    what: 'a JSON object',
    content: JSON.stringify({ id: 4, name: 'Abies' }, null, 2),
    message: 'Write the plants as an array in brackets',
  },
  { what: 'a PNG', content: '\x89PNG\r\n\x1a\n', message: 'This is an image.' },
  { what: 'a JPEG', content: '\xff\xd8\xff\xe0', message: 'This is an image.' },
  { what: 'a PDF', content: '%PDF-1.7', message: 'This is a PDF file.' },
  { what: 'an XLSX', content: 'PK\x03\x04', name: 'a.XLSX', message: 'This is a spreadsheet.' },
  { what: 'a ZIP', content: 'PK\x03\x04', name: 'a.zip', message: 'This is a ZIP file' },
  { what: 'an XLS', content: '\xd0\xcf\x11\xe0\xa1', message: 'save or export the plants as CSV' },
  { what: 'an RTF', content: '{\\rtf1', message: 'This is a text document.' },
  { what: 'a gzip', content: '\x1f\x8b\x08', message: 'Unpack it first.' },
  { what: 'SQLite', content: 'SQLite format 3\0', message: 'This is a database.' },
  { what: 'HTML', content: '<!doctype html>', message: 'This is a web page or an XML file.' },
  { what: 'other bytes', content: '\x7fELF\0\0\0\0', message: 'This is not a text file.' },
  { what: 'damaged UTF-16', content: '\xff\xfea\0\0\xd8a\0', message: 'This file is damaged' },
  {
    what: 'an unfinished array',
    content: '[{"id":4},',
    message: 'Item 2: the file ends within the array.',
  },
  {
    what: 'a stray quote',
    content: 'Plants\nid,name\n4,"a"b\n',
    message: 'Line 3: a quote within a field must be doubled.',
  },
]) {
  t.test(`${what} gets a sentence`, async (t) => {
    const file = fileOf(new Uint8Array(Buffer.from(content, 'latin1')), name)
    const error = await openFile(file).catch((error) => error)
    t.type(error, FileProblem)
    t.match(error, { message })
    t.match(error, { message: /[.]$/ })
  })
}

t.test('a file that is too large is refused before it is read', async (t) => {
  class LargeFile extends File {
    override readonly size = FILE_BYTES_MAX + 1
    override slice(): never {
      throw new Error('read')
    }
  }
  const error = await openFile(new LargeFile([], 'plants.csv')).catch((error) => error)
  t.type(error, FileProblem)
  t.match(error, {
    message: /^This file has 201 MB. Here, a file can have up to 200 MB. .*“plant-store import”\.$/,
  })
})

for (const { what, readable } of [
  { what: 'a folder', readable: 0 },
  { what: 'a file that is removed while it is recognized', readable: 1 },
  { what: 'a file that is removed while its records are read', readable: 3 },
]) {
  t.test(`${what} gets a sentence`, async (t) => {
    let reads = 0
    class Unreadable extends File {
      override slice(start: number, end: number): Blob {
        reads += 1
        const arrayBuffer = () => Promise.reject(new Error('unreadable'))
        return reads > readable
          ? Object.assign(new Blob(), { arrayBuffer })
          : super.slice(start, end)
      }
    }
    const error = await openFile(new Unreadable(['id,name'], 'plants')).catch((error) => error)
    t.type(error, FileProblem)
    t.match(error, { message: 'This file cannot be read. If it is a folder, choose a file in it.' })
  })
}

t.test('sizes are rounded up', async (t) => {
  t.equal(describeBytes(1), '1 kB')
  t.equal(describeBytes(1_791_374), '2 MB')
  t.equal(describeBytes(2 ** 31), '2.1 GB')
})

t.test('a single U+0000 is a mistake in a record', async (t) => {
  const file = await openFile(fileOf('id,name\n4,Abies\0\n'))
  t.equal(file.sample[0]?.values[1], 'Abies\0')
})
