import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { MalformedFile, RECORD_LENGTH_MAX } from '../../formats/rows.ts'
import { readRows } from './read-rows.ts'

const HUGE = '9007199254740993'

t.test('NDJSON is read line by line, and an invalid line does not end it', async (t) => {
  const lines = ['{"id": 4, "name": "Abies"}', '', '{"id": 5', '  ', '[]', 'null', '{}\r', '"x"']
  for (const length of [1, 7, 1000]) {
    const { rows, problem } = readRows('ndjson', lines.join('\n'), length)
    t.equal(problem, undefined)
    t.same(rows, [
      { number: 1, values: { id: 4n, name: 'Abies' } },
      {
        number: 3,
        values: {},
        problem: `record is not valid JSON: Expected ',' or '}' after property value in JSON at position 8`,
      },
      { number: 5, values: {}, problem: 'record is not an object in braces' },
      { number: 6, values: {}, problem: 'record is not an object in braces' },
      { number: 7, values: {} },
      { number: 8, values: {}, problem: 'record is not an object in braces' },
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
    const { rows } = readRows('ndjson', `{"plant number": ${json}}`)
    t.strictSame(rows[0]?.values, { 'plant number': value }, json)
  }
})

t.test('integers are exact whatever their length and notation', async () => {
  const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  fc.assert(
    fc.property(integer, fc.nat(18), fc.nat(3), (large, digits, zeros) => {
      const value = large / 10n ** BigInt(digits)
      const shifted = value === 0n ? '0' : `${value}${'0'.repeat(zeros)}`
      for (const number of [`${value}`, `${value}.000`, `${shifted}e-${zeros}`]) {
        const { rows } = readRows('ndjson', `{"id":${number}}`)
        assert.deepEqual(rows[0]?.values, { id: value }, number)
      }
    }),
  )
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
      const { rows, problem } = readRows('json', json, length)
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
  { json: '[1,]', rows: 1, message: /^record is not valid JSON: / },
  { json: '[,1]', rows: 0, message: /^record is not valid JSON: / },
  { json: '[1, 2 3]', rows: 1, message: /^record is not valid JSON: / },
  { json: '[1, {"a": 1], {}]', rows: 1, message: /^record is not valid JSON: / },
  { json: '[1, {"a": 1]}, {}]', rows: 1, message: /^record is not valid JSON: / },
  { json: '[1, {"a": "\\', rows: 1, message: 'the file ends within the array' },
  { json: '[1', rows: 0, message: 'the file ends within the array' },
  { json: '[1] [2]', rows: 1, message: 'expected the end of the file after the array' },
  { json: '[{}} [{}]', rows: 0, message: /^record is not valid JSON: / },
  {
    json: `["${'a'.repeat(RECORD_LENGTH_MAX + 2 ** 18)}"]`,
    rows: 0,
    message: 'record must not exceed 4194304 characters',
  },
]) {
  t.test(`reading ends at the mistake in ${json.slice(0, 30)}`, async (t) => {
    for (const length of [json.length > 100 ? 2 ** 17 : 1, 2 ** 23]) {
      const read = readRows('json', json, length)
      t.equal(read.rows.length, rows)
      t.type(read.problem, MalformedFile)
      t.match(read.problem, { message, number: rows + 1 })
    }
  })
}

t.test('every array of objects is split as JSON.parse does', async () => {
  const arrays = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))
  await fc.assert(
    fc.asyncProperty(arrays, fc.integer({ min: 1, max: 9 }), async (array, length) => {
      const json = JSON.stringify(array, null, length % 3)
      const { rows } = readRows('json', json, length)
      assert.equal(rows.length, array.length)
      for (const [index, { values, problem }] of rows.entries()) {
        assert.equal(problem, undefined)
        assert.deepEqual(Object.keys(values), Object.keys(array[index] ?? {}))
      }
    }),
  )
})
