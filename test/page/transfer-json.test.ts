import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { readJsonArray, readNdjson } from '../../page/transfer/file/json-rows.ts'
import { FileProblem, RECORD_LENGTH_MAX } from '../../page/transfer/file/rows.ts'
import { partsOf, readAll } from './rows.ts'

const HUGE = '9007199254740993'

t.test('NDJSON is read line by line, and an invalid line does not end it', async (t) => {
  const lines = ['{"id": 4, "name": "Abies"}', '', '{"id": 5', '  ', '[]', 'null', '{}\r', '"x"']
  for (const length of [1, 7, 1000]) {
    const { rows, problem } = await readAll(readNdjson(partsOf(lines.join('\n'), length)))
    t.equal(problem, undefined)
    t.same(rows, [
      { number: 1, values: { id: 4n, name: 'Abies' } },
      { number: 3, values: {}, problem: 'The record is not valid JSON' },
      { number: 5, values: {}, problem: 'The record is not an object in braces' },
      { number: 6, values: {}, problem: 'The record is not an object in braces' },
      { number: 7, values: {} },
      { number: 8, values: {}, problem: 'The record is not an object in braces' },
    ])
  }
})

t.test('integers of every member are exact', async (t) => {
  for (const [json, value] of [
    [HUGE, 2n ** 53n + 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', 2 ** 63],
    ['1e2', 100n],
    ['1.0', 1n],
    ['-0', 0n],
    ['1.5', 1.5],
    ['4.00000000000000000001', 4],
    [`[{"a": ${HUGE}}]`, [{ a: 2n ** 53n + 1n }]],
  ] as const) {
    const { rows } = await readAll(readNdjson(partsOf(`{"plant number": ${json}}`)))
    t.strictSame(rows[0]?.values, { 'plant number': value }, json)
  }
})

t.test('a line that is too long ends the file', async (t) => {
  const text = `{}\n${' '.repeat(RECORD_LENGTH_MAX + 1)}`
  const { rows, problem } = await readAll(readNdjson(partsOf(text)))
  t.equal(rows.length, 1)
  t.type(problem, FileProblem)
  t.match(problem, { message: 'Line 2 is too long.' })
})

for (const { json, numbers } of [
  { json: '[]', numbers: 0 },
  { json: ' [ \n ] \n', numbers: 0 },
  { json: '[{}]', numbers: 1 },
  { json: '[{"a": "],[\\\\\\"}{,"}, {"b": [1, {"c": []}]},\n{}]', numbers: 3 },
  { json: '[null, 5, "x"]', numbers: 3 },
]) {
  t.test(`the items of ${JSON.stringify(json)} are read one by one`, async (t) => {
    const items: unknown[] = JSON.parse(json)
    for (const length of [1, 2, 5, 1000]) {
      const { rows, problem } = await readAll(readJsonArray(partsOf(json, length)))
      t.equal(problem, undefined)
      t.same(
        rows.map(({ number }) => number),
        items.map((_item, index) => index + 1),
      )
      t.equal(rows.length, numbers)
    }
  })
}

for (const { json, rows, message } of [
  { json: '[1,]', rows: 1, message: 'Item 2 is not valid JSON. ' },
  { json: '[,1]', rows: 0, message: 'Item 1 is not valid JSON. ' },
  { json: '[1, 2 3]', rows: 1, message: 'Item 2 is not valid JSON. ' },
  { json: '[1, {"a": 1], {}]', rows: 1, message: 'Item 2 is not valid JSON. ' },
  { json: '[1, {"a": 1]}, {}]', rows: 1, message: 'Item 2 is not valid JSON. ' },
  { json: '[1, {"a": "\\', rows: 1, message: 'The file is incomplete' },
  { json: '[1', rows: 0, message: 'The file is incomplete' },
  { json: '[1] [2]', rows: 1, message: 'something follows its JSON array' },
  { json: '[{}} [{}]', rows: 0, message: 'Item 1 is not valid JSON. ' },
  {
    json: `["${'a'.repeat(RECORD_LENGTH_MAX + 2 ** 18)}"]`,
    rows: 0,
    message: 'Item 1 is too long',
  },
]) {
  t.test(`reading ends at the mistake in ${json.slice(0, 30)}`, async (t) => {
    for (const length of [json.length > 100 ? 2 ** 17 : 1, 2 ** 17]) {
      const read = await readAll(readJsonArray(partsOf(json, length)))
      t.equal(read.rows.length, rows)
      t.type(read.problem, FileProblem)
      t.match(read.problem, { message })
    }
  })
}

t.test('every array of objects is split as JSON.parse does', async () => {
  const arrays = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))
  await fc.assert(
    fc.asyncProperty(arrays, fc.integer({ min: 1, max: 9 }), async (array, length) => {
      const json = JSON.stringify(array, null, length % 3)
      const { rows } = await readAll(readJsonArray(partsOf(json, length)))
      assert.equal(rows.length, array.length)
      for (const [index, { values, problem }] of rows.entries()) {
        assert.equal(problem, undefined)
        assert.deepEqual(Object.keys(values), Object.keys(array[index] ?? {}))
      }
    }),
  )
})
