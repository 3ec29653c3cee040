import t from 'tap'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { members } from '../../../core/members/members.gen.ts'
import { describeBytes, FILE_BYTES_MAX, openFile } from '../../../page/transfer/file/import-file.ts'
import { writePlants } from '../../core/files/xlsx/workbooks.ts'

function fileOf(content: string, name = 'plants.csv'): File {
  return new File([content], name)
}

t.test('a file is read again from its start, with progress in bytes', async (t) => {
  const content = `id,name\n${'4,Abies alba Mill.\n'.repeat(20_000)}`
  const file = await openFile(fileOf(content))
  t.ok(file.sample.length > 100)
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

t.test('another line can be the header', async (t) => {
  const content = 'id,plants\r\n\r\nid;name\r\n4;Abies\r\n'
  const file = await openFile(fileOf(content))
  t.same(file.candidates[1], { line: 3, text: 'id · name' })
  const other = await file.choose({ header: 3 })
  t.same(
    other.columns.map(({ name }) => name),
    ['id', 'name'],
  )
  t.match(await Array.fromAsync(other.records()), [{ number: 4, values: { 0: '4', 1: 'Abies' } }])
  const none = await other.choose({ ...other.choices, header: 'none' })
  t.equal((await Array.fromAsync(none.records())).length, 3)
})

for (const { what, content, message } of [
  { what: 'blank lines', content: '\n\n', message: 'There are no plants in this file.' },
  { what: 'an empty array', content: '[]', message: 'There are no plants in this file.' },
  {
    what: 'a header',
    content: 'id,name\n',
    message: 'There are no plants in this file, only column names.',
  },
]) {
  t.test(`${what} gets a sentence`, async (t) => {
    const error = await openFile(fileOf(content)).catch((error) => error)
    t.type(error, FileProblem)
    t.match(error, { message })
  })
}

t.test('an array that does not end gets a sentence', async (t) => {
  const file = await openFile(fileOf('[{"id":4},'))
  const error = await Array.fromAsync(file.records()).catch((error) => error)
  t.type(error, FileProblem)
  t.equal(
    error.message,
    'Item 2: the file ends within the array. The file cannot be read from there.',
  )
})

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
  { what: 'a file that is removed while its records are read', readable: 1 },
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
    const error = await openFile(new Unreadable(['id,name\n4,Abies'], 'plants'))
      .then((file) => Array.fromAsync(file.records()))
      .catch((error) => error)
    t.type(error, FileProblem)
    t.match(error, { message: 'This file cannot be read. If it is a folder, choose a file in it.' })
  })
}

t.test('a workbook is read', async (t) => {
  const workbook = await writePlants(members, [{ id: 2n ** 60n, name: '=1+1', tag: '' }])
  const file = await openFile(new File([workbook], 'plants.xlsx'))
  t.match(file, { format: 'xlsx', sheets: ['plants'], header: 1 })
  const [record] = await Array.fromAsync(file.records())
  t.match(record, { number: 2, values: { 0: String(2n ** 60n), 1: '=1+1', 2: '' } })
})

t.test('sizes are rounded up', async (t) => {
  t.equal(describeBytes(1), '1 kB')
  t.equal(describeBytes(1_791_374), '2 MB')
  t.equal(describeBytes(2 ** 31), '2.1 GB')
})
