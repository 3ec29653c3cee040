import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { loadContract } from '../../contract/contract.ts'
import { parseExactJson } from '../../contract/exact-json.ts'
import { INEXACT } from '../../contract/int64.ts'
import { InvalidJson } from '../../contract/json-scanner.ts'
import { componentProjection } from '../../contract/projection.ts'
import { exactValue, jsonText } from '../helpers/json-text.ts'

const newPlant = componentProjection(loadContract(), 'NewPlant')

const read = (text: string) => parseExactJson(Buffer.from(text))
const readPlant = (text: string) => parseExactJson(Buffer.from(text), newPlant)

const int64 = 9223372036854775807n

const numbers: [text: string, value: bigint | number | typeof INEXACT][] = [
  ['0', 0],
  ['-0', -0],
  ['-0.0e-5', -0],
  ['0e999999999', 0],
  ['1.0', 1],
  ['1e2', 100],
  ['10e-1', 1],
  ['-1E+0', -1],
  ['0.1', 0.1],
  ['1e-7', 1e-7],
  ['123456789012345', 123456789012345],
  ['1234567890123456', 1234567890123456],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993', -9007199254740993n],
  ['9007199254740993.000', 9007199254740993n],
  ['90071992547409930e-1', 9007199254740993n],
  ['1e16', 10_000_000_000_000_000n],
  ['0.00000000000000000001e38', 10n ** 18n],
  [String(int64), int64],
  ['-9223372036854775808', -int64 - 1n],
  ['9223372036854775808', INEXACT],
  ['-9223372036854775809', INEXACT],
  ['10000000000000000000', INEXACT],
  ['1e300', INEXACT],
  ['4.00000000000000000001', INEXACT],
  ['9007199254740993.5', INEXACT],
  ['1e-400', INEXACT],
  ['1e-999999999', INEXACT],
  ['1E400', INEXACT],
  ['-1e999999999', INEXACT],
]

t.test('a number is parsed exactly, or is INEXACT', async (t) => {
  for (const [text, value] of numbers) {
    t.ok(Object.is(read(text), value), text)
    t.strictSame(read(`{"name":"a","id":${text},"tag":"b"}`), { name: 'a', id: value, tag: 'b' })
    t.strictSame(read(` [ ${text} , ${text} ] `), [value, value])
    t.strictSame(readPlant(`{"x":${text},"id":${text}}`), { id: value })
  }
})

t.test('the last of repeated members wins', async (t) => {
  const id = '9007199254740993'
  for (const each of [read, readPlant]) {
    t.same(each(`{"id":"a","id":${id}}`), { id: 9007199254740993n })
    t.same(each(`{"id":${id},"id":"a"}`), { id: 'a' })
    t.same(each(`{"id":4,"\\u0069d":${id}}`), { id: 9007199254740993n })
    t.same(each(`{"id":${id},"id":4}`), { id: 4 })
  }
})

t.test('a member named __proto__ is an ordinary member', async (t) => {
  const read1 = read('{"__proto__":9007199254740993}') as object
  t.same(Object.entries(read1), [['__proto__', 9007199254740993n]])
  t.equal(Object.getPrototypeOf(read1), Object.prototype)
})

t.test('a name that V8 parses incorrectly does not affect the other members', async (t) => {
  read(String.raw`{"id":9007199254740993,"\\":0}`)
  const object = read(String.raw`{"id":9007199254740993,"\"":0}`) as { id: bigint }
  t.equal(object.id, 9007199254740993n)
})

t.test('only members in the projection are built', async (t) => {
  const more = '[{"id":1},"a",1e16,true,false,null,{}]'
  t.same(readPlant(`{"x":${more},"id":1,"name":${more},"tag":{"id":1},"":""}`), {
    id: 1,
    name: [],
    tag: {},
  })
  t.same(readPlant(more), [])
  t.same(readPlant('"a"'), 'a')
  t.same(readPlant('{"name":"a\\n","tag":null}'), { name: 'a\n', tag: null })
})

const invalid: [text: string, problem: string][] = [
  ['', 'is not valid JSON: expected a value at byte 0'],
  [' x', 'is not valid JSON: expected a value at byte 1'],
  ['tru', 'is not valid JSON: expected a value at byte 0'],
  ['nul1', 'is not valid JSON: expected a value at byte 0'],
  ['-', 'is not valid JSON: expected a digit at byte 1'],
  ['+1', 'is not valid JSON: expected a value at byte 0'],
  ['01', 'is not valid JSON: expected the end of input at byte 1'],
  ['1.', 'is not valid JSON: expected a digit at byte 2'],
  ['.5', 'is not valid JSON: expected a value at byte 0'],
  ['1e', 'is not valid JSON: expected a digit at byte 2'],
  ['1e+x', 'is not valid JSON: expected a digit at byte 3'],
  ['"é', 'is not valid JSON: expected a closing quote at byte 3'],
  ['"\n"', 'is not valid JSON: expected an escape sequence for the control character at byte 1'],
  ['"\\', 'is not valid JSON: expected an escape sequence at byte 2'],
  ['"\\x"', 'is not valid JSON: expected an escape sequence at byte 2'],
  ['"\\u12"', 'is not valid JSON: expected an escape sequence at byte 2'],
  ['"\\u123', 'is not valid JSON: expected an escape sequence at byte 2'],
  ['{"id":1,}', 'is not valid JSON: expected a member name in double quotes at byte 8'],
  ['{"id" 1}', "is not valid JSON: expected ':' at byte 6"],
  ['{"id":1', "is not valid JSON: expected ',' or '}' at byte 7"],
  ['[1 2]', "is not valid JSON: expected ',' or ']' at byte 3"],
  ['[1,]', 'is not valid JSON: expected a value at byte 3'],
  ['{} {}', 'is not valid JSON: expected the end of input at byte 3'],
  ['\ufeff1', 'is not valid JSON: expected a value at byte 0'],
  [`${'['.repeat(65)}`, 'is nested deeper than 64 levels'],
  [`${'{"x":'.repeat(65)}`, 'is nested deeper than 64 levels'],
]

t.test(
  'invalid JSON is reported with its position, inside and outside the projection',
  async (t) => {
    for (const [text, problem] of invalid) {
      t.throws(() => read(text), { constructor: InvalidJson, message: `body ${problem}` }, text)
      const shift = (_match: string, byte: string) => `at byte ${Number(byte) + 5}`
      const shifted = problem.replace(/at byte (\d+)/, shift)
      if (!text.startsWith('{"x"') && !problem.includes('the end of input')) {
        t.throws(() => readPlant(`{"x":${text}`), { message: `body ${shifted}` }, text)
      }
    }
    t.throws(() => parseExactJson(Buffer.from([0x22, 0xff, 0x22])), {
      message: 'body is not valid UTF-8',
    })
  },
)

t.test('64 levels of nesting are accepted', async (t) => {
  const text = `${'['.repeat(64)}${']'.repeat(64)}`
  t.same(read(text), JSON.parse(text))
})

t.test('any JSON is parsed as JSON.parse does, with exact numbers', async () => {
  fc.assert(
    fc.property(jsonText(), ({ text, value }) => {
      assert.deepEqual(read(text), value)
      if (!text.includes('\\')) assert.deepEqual(read(text), JSON.parse(text, exactly))
    }),
    { numRuns: 2000 },
  )
})

t.test('a projection has the same values as the whole body', async () => {
  const name = fc.constantFrom('"id"', '"name"', '"tag"', '"x"', '"\\u0069d"', '"id "', '"I"', '""')
  const members = fc.array(fc.tuple(name, jsonText()), { maxLength: 6 })
  fc.assert(
    fc.property(members, (members) => {
      const text = `{${members.map(([name, { text }]) => `${name}:${text}`).join()}}`
      const whole = read(text) as Record<string, unknown>
      const read1 = readPlant(text) as Record<string, unknown>
      const named = ['id', 'name', 'tag'].filter((name) => name in whole)
      assert.deepEqual(Object.keys(read1).sort(), named)
      for (const name of named) {
        const [own, all] = [read1[name], whole[name]]
        if (typeof all === 'object' && all !== null)
          assert.deepEqual(own, Array.isArray(all) ? [] : {})
        else assert.deepEqual(own, all)
      }
    }),
    { numRuns: 1000 },
  )
})

t.test('JSON that JSON.parse rejects is rejected, inside and outside the projection', async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom(...'{}[]",:\\-+.eE0159 tfnu\n\0é'),
  )
  fc.assert(
    fc.property(
      jsonText(),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      ({ text }, changes) => {
        let changed = text
        for (const [at, removed, added] of changes) {
          const from = at % (changed.length + 1)
          changed = changed.slice(0, from) + added + changed.slice(from + removed)
        }
        const expected = accepts(() => JSON.parse(changed))
        assert.equal(
          accepts(() => read(changed.toWellFormed())),
          expected,
          changed,
        )
        assert.equal(
          accepts(() => readPlant(`{"x":${changed}}`)),
          accepts(() => JSON.parse(`{"x":${changed}}`)),
        )
      },
    ),
    { numRuns: 2000 },
  )
})

/** The oracle is a reviver of JSON.parse, because it shares no code with the parser. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? exactValue(String(context?.source)) : value
}

function accepts(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
