import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { InexactNumber, MalformedFile, RECORD_LENGTH_MAX } from '../../../core/files/file-record.ts'
import { JsonArrayReader } from '../../../core/files/json-readers.ts'
import { known } from '../../../core/known.ts'
import { readRecords } from './read-records.ts'

const HUGE = '9007199254740993'

t.test('NDJSON is read line by line, and an invalid line does not end it', async (t) => {
  const lines = ['{"id": 4, "name": "Abies"}', '', '{"id": 5', '  ', '[]', 'null', '{}\r', '"x"']
  for (const length of [1, 7, 1000]) {
    const { records, problem } = readRecords('ndjson', lines.join('\n'), length)
    t.equal(problem, undefined)
    t.same(records, [
      { number: 1, values: { id: 4n, name: 'Abies' } },
      {
        number: 3,
        values: {},
        problem: `record is not valid JSON: Expected ',' or '}' after property value in JSON at position 8`,
        isMalformed: true,
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
    ['1e30', 1e30],
    ['1e2', 100n],
    ['1.0', 1n],
    ['-0', 0n],
    ['1.5', 1.5],
    [`[{"a": ${HUGE}}]`, [{ a: 2n ** 53n + 1n }]],
  ] as const) {
    const { records } = readRecords('ndjson', `{"plant number": ${json}}`)
    t.strictSame(records[0]?.values, { 'plant number': value }, json)
  }
})

t.test('other numbers that a double changes keep their text', async (t) => {
  for (const number of ['9223372036854775808', '4.00000000000000000001', '-1e400', '1e-400']) {
    const { records } = readRecords('ndjson', `{"price": ${number}, "prices": [${number}]}`)
    const { price, prices } = known(records[0]).values
    t.type(price, InexactNumber)
    t.equal(String(price), number)
    t.equal(JSON.stringify({ price, prices }), `{"price":${number},"prices":[${number}]}`)
  }
})

t.test('integers are exact whatever their length and notation', async () => {
  const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  fc.assert(
    fc.property(integer, fc.nat(18), fc.nat(3), (large, digits, zeros) => {
      const value = large / 10n ** BigInt(digits)
      const shifted = value === 0n ? '0' : `${value}${'0'.repeat(zeros)}`
      for (const number of [`${value}`, `${value}.000`, `${shifted}e-${zeros}`]) {
        const { records } = readRecords('ndjson', `{"id":${number}}`)
        assert.deepEqual(records[0]?.values, { id: value }, number)
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
      const { records, problem } = readRecords('json', json, length)
      t.equal(problem, undefined)
      t.same(
        records.map(({ number }) => number),
        items.map((_item, index) => index + 1),
      )
      t.equal(records.length, numbers)
    }
  })
}

for (const { json, records, message } of [
  { json: '[1, {"a": 1], {}]', records: 1, message: /^record is not valid JSON \(line 1\): / },
  { json: '[1, {"a": 1]}, {}]', records: 1, message: /^record is not valid JSON \(line 1\): / },
  { json: '[1, {"a": "\\', records: 1, message: 'the file ends within the array' },
  { json: '[1', records: 0, message: 'the file ends within the array' },
  { json: '[1] [2]', records: 1, message: 'expected the end of the file after the array' },
  { json: '[{}} [{}]', records: 0, message: /^record is not valid JSON \(line 1\): / },
  {
    json: `["${'a'.repeat(RECORD_LENGTH_MAX + 2 ** 18)}"]`,
    records: 0,
    message: 'record must not exceed 4194304 characters',
  },
]) {
  t.test(`reading ends at the mistake in ${json.slice(0, 30)}`, async (t) => {
    for (const length of [json.length > 100 ? 2 ** 17 : 1, 2 ** 23]) {
      const read = readRecords('json', json, length)
      t.equal(read.records.length, records)
      t.type(read.problem, MalformedFile)
      t.match(read.problem, { message, number: records + 1 })
    }
  })
}

for (const { json, problems } of [
  { json: '[1,\n]', problems: ['(line 2): a comma must not precede a closing bracket; remove it'] },
  {
    json: '[,{}]',
    problems: ['(line 1): a comma must not precede a closing bracket; remove it', ''],
  },
  { json: '[\n{} {},\n{}]', problems: ['(line 2): Unexpected non-whitespace', ''] },
  { json: '[\n\n{"a": 1,}, {}]', problems: ['(line 3): a comma must not precede', ''] },
  { json: '[{}, // "x"\n{}]', problems: ['', '(line 1): JSON has no comments'] },
  { json: '[{"a": -Infinity}, {"a": "NaN"}]', problems: ['(line 1): JSON has no NaN', ''] },
]) {
  t.test(`the mistake in ${JSON.stringify(json)} costs no other record`, async (t) => {
    for (const length of [1, 1000]) {
      const { records, problem } = readRecords('json', json, length)
      t.equal(problem, undefined)
      const found = records.map(({ problem = '' }) =>
        problem.replace('record is not valid JSON ', ''),
      )
      t.match(
        found.filter((each) => each !== 'record is not an object in braces'),
        problems.map((each) => new RegExp(each.replace(/[()]/g, '\\$&'))),
      )
    }
  })
}

t.test('the members of objects are also members', async (t) => {
  const { records } = readRecords(
    'ndjson',
    `{"a":{"b":${HUGE},"c":1,"__proto__":2},"d.e":[{"f":1}],"g":{}}`,
  )
  t.match(records[0]?.values, { 'a.b': BigInt(HUGE), 'a.c': 1n, 'a.__proto__': 2n })
  t.notOk(Object.hasOwn(known(records[0]).values, 'd.e.f'))
})

t.test('every array of objects is split as JSON.parse does', async () => {
  const arrays = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))
  await fc.assert(
    fc.asyncProperty(arrays, fc.integer({ min: 1, max: 9 }), async (array, length) => {
      const json = JSON.stringify(array, null, length % 3)
      const { records } = readRecords('json', json, length)
      assert.equal(records.length, array.length)
      for (const [index, { values, problem }] of records.entries()) {
        assert.equal(problem, undefined)
        const names = Object.keys(array[index] ?? {})
        assert.deepEqual(Object.keys(values).slice(0, names.length), names)
      }
    }),
  )
})

t.test('what follows an array can be ignored', async (t) => {
  const reader = new JsonArrayReader({ ignoresRest: true })
  t.match([...reader.read('[{"id": 4}], "next": null}\n')], [{ number: 1, values: { id: 4n } }])
  t.same([...reader.end()], [])
})
