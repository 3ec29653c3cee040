import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { plantReader } from '../../page/transfer/file/columns.ts'
import { readCsv } from '../../page/transfer/file/csv-rows.ts'
import { FileProblem, RECORD_LENGTH_MAX, type Row } from '../../page/transfer/file/rows.ts'
import { readCsv as readOnCommandLine } from '../../src/transfer/csv.ts'
import { writers } from '../../src/transfer/export.ts'
import { partsOf, readAll } from './rows.ts'

/** The fields of each row after its number. */
async function fieldsOf(
  csv: string,
  partLength?: number,
): Promise<readonly (readonly unknown[])[]> {
  const { rows, problem } = await readAll(readCsv(partsOf(csv, partLength)))
  assert.equal(problem, undefined)
  return rows.map(({ number, values }) => [number, ...Object.values(values)])
}

const HEADER = [1, 'id', 'name', 'tag']

for (const { what, csv, rows } of [
  { what: 'commas separate fields', csv: '4,Abies,Tree', rows: [[2, '4', 'Abies', 'Tree']] },
  {
    what: 'a missing tag differs from an empty one',
    csv: '4,Abies,\n5,Acer,""',
    rows: [
      [2, '4', 'Abies', undefined],
      [3, '5', 'Acer', ''],
    ],
  },
  {
    what: 'a quoted field can contain separators, quotes and line breaks',
    csv: '4,"a, ""b""\nc\r\nd",\n5,Acer,',
    rows: [
      [2, '4', 'a, "b"\nc\r\nd', undefined],
      [5, '5', 'Acer', undefined],
    ],
  },
  {
    what: 'lines can end with CRLF',
    csv: '4,Abies,"Tree"\r\n5,Acer,\r\n',
    rows: [
      [2, '4', 'Abies', 'Tree'],
      [3, '5', 'Acer', undefined],
    ],
  },
  {
    what: 'blank lines and rows without values are skipped, and counted as lines',
    csv: '\n\r\n,,\n4,Abies,\n\n',
    rows: [[5, '4', 'Abies', undefined]],
  },
  {
    what: 'a carriage return within a field is part of it',
    csv: '4,a\rb,\r\n5,\r,\n',
    rows: [
      [2, '4', 'a\rb', undefined],
      [3, '5', '\r', undefined],
    ],
  },
]) {
  t.test(what, async (t) => {
    for (const length of [1, 2, 3, 1000]) {
      t.same(await fieldsOf(`id,name,tag\n${csv}`, length), [HEADER, ...rows], `parts of ${length}`)
    }
  })
}

t.test('semicolons, tabs and quoted separators in the header are recognized', async (t) => {
  t.same(await fieldsOf('id;name;tag\n4;a,b;'), [HEADER, [2, '4', 'a,b', undefined]])
  t.same(await fieldsOf('id\tname\ttag\n4\ta,b;c\t'), [HEADER, [2, '4', 'a,b;c', undefined]])
  t.same(await fieldsOf('"a,b";"c ""d"", e"\n1;2'), [
    [1, 'a,b', 'c "d", e'],
    [2, '1', '2'],
  ])
})

t.test('lines can end with a carriage return alone', async (t) => {
  t.same(await fieldsOf('id,name,tag\r4,"a\rb",\r5,Acer,x'), [
    HEADER,
    [2, '4', 'a\nb', undefined],
    [4, '5', 'Acer', 'x'],
  ])
})

t.test('a row with another number of fields is invalid', async (t) => {
  const { rows } = await readAll(readCsv(partsOf('id,name\n4\n5,Acer,x\n6,Alnus')))
  t.same(
    rows.map(({ problem }) => problem),
    [
      undefined,
      'The row has 1 field, but the first row has 2',
      'The row has 3 fields, but the first row has 2',
      undefined,
    ],
  )
})

for (const { csv, problem } of [
  { csv: '4,a"b', problem: 'Line 3 has a quote in a field that does not start with one.' },
  { csv: '"4"5,a', problem: 'Line 3 has a quote that is not doubled within a quoted field.' },
  { csv: '4,"a\n\n', problem: 'Line 3 has a quote that is not closed.' },
  { csv: `4${','.repeat(2 ** 14)}`, problem: 'Line 3 has more than 16384 fields.' },
  {
    csv: `4,"${'a'.repeat(RECORD_LENGTH_MAX + 1)}\n5,b`,
    problem: 'Line 3 is too long. Perhaps a quote is not closed.',
  },
]) {
  t.test(`${JSON.stringify(csv.slice(0, 20))} ends the file`, async (t) => {
    const read = await readAll(readCsv(partsOf(`id,name\n3,Abies\n${csv}`, 2 ** 16)))
    t.equal(read.rows.length, 2, 'the rows before are read')
    t.type(read.problem, FileProblem)
    t.match(read.problem, { message: `${problem} The file cannot be read from there.` })
  })
}

t.test('a quote that is never closed takes linear time', async (t) => {
  const csv = `id,name\n3,"${'""'.repeat(RECORD_LENGTH_MAX)}`
  const { problem } = await readAll(readCsv(partsOf(csv, 2 ** 17)))
  t.match(problem, { message: /too long/ })
})

/** The plants of a CSV file with the columns of a plant and, by line, whether others are invalid. */
async function plantsOf(csv: string, partLength: number): Promise<unknown[]> {
  const { rows, problem } = await readAll(readCsv(partsOf(csv, partLength)))
  const [header, ...others] = rows as [Row, ...Row[]]
  const keys = Object.entries(header.values).map(([key, name]) => [name, key])
  const toPlant = plantReader(Object.fromEntries(keys), 'csv')
  const plants = others.map((row) => [row.number, describe(toPlant(row))])
  return problem === undefined ? plants : [...plants, 'problem']
}

/** The same of the command line's import. */
async function commandLinePlantsOf(csv: string): Promise<unknown[]> {
  const plants: unknown[] = []
  async function* file() {
    yield Buffer.from(csv)
  }
  try {
    for await (const { records } of readOnCommandLine(file(), {})) {
      for (const { number, result } of records) {
        if (result !== undefined) plants.push([number, describe(result)])
      }
    }
  } catch {
    // The malformed record.
    plants.pop()
    plants.push('problem')
  }
  return plants
}

function describe(result: unknown): unknown {
  return typeof result === 'string' ? 'invalid' : result
}

/** Text that consists mostly of significant characters. No U+0000, which csv-parse ignores after a closing quote. */
const text = fc
  .array(fc.constantFrom(...',;\t"\n\r a1-0é', '\r\n', '""'), { maxLength: 30 })
  .map((characters) => characters.join(''))

t.test('the page reads every file as the command line does', async () => {
  const header = fc.constantFrom('id,name,tag\n', 'name;"id"\r\n', 'tag\tid\tname\n')
  await fc.assert(
    fc.asyncProperty(
      header,
      fc.array(text),
      fc.integer({ min: 1, max: 20 }),
      async (first, parts, length) => {
        const csv = first + parts.join('')
        assert.deepEqual(await plantsOf(csv, length), await commandLinePlantsOf(csv))
      },
    ),
    { numRuns: 150 },
  )
})

t.test('the page reads what the export writes', async () => {
  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const content = text
  const plants = fc.array(
    fc.oneof(fc.record({ id, name: content }), fc.record({ id, name: content, tag: content })),
  )
  await fc.assert(
    fc.asyncProperty(plants, fc.integer({ min: 1, max: 50 }), async (plants, length) => {
      const { header, line } = writers.csv
      const csv = header + plants.map(line).join('')
      const read = (await plantsOf(csv, length)) as [number, unknown][]
      assert.deepEqual(
        read.map(([, plant]) => plant),
        plants.map((plant) => ({ ...plant })),
      )
    }),
  )
})
