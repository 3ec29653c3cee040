import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  loadContract,
  plantMembers,
  resolveReference,
  type Schema,
} from '../../../core/contract/contract.ts'
import { InvalidJson, prepareParser } from '../../../core/json/exact-json.ts'
import { INEXACT } from '../../../core/json/int64.ts'
import { exactValue, jsonText } from '../../helpers/plants/json-text.ts'
import { runs } from '../../helpers/plants/runs.ts'

const parse = prepareParser(plantMembers(loadContract()))
const read = (text: string) => parse(Buffer.from(text))

const int64 = 9223372036854775807n

const numbers: [text: string, value: bigint | number | typeof INEXACT][] = [
  ['0', 0],
  ['-0', -0],
  ['0e999999999', 0],
  ['1e2', 100],
  ['0.1', 0.1],
  ['123456789012345', 123456789012345],
  ['1234567890123456', 1234567890123456],
  ['9007199254740993', 9007199254740993n],
  ['90071992547409930e-1', 9007199254740993n],
  ['1e16', 10_000_000_000_000_000n],
  ['0.00000000000000000001e38', 10n ** 18n],
  [String(int64), int64],
  ['-9223372036854775808', -int64 - 1n],
  ['9223372036854775808', INEXACT],
  ['-9223372036854775809', INEXACT],
  ['4.00000000000000000001', INEXACT],
  ['9007199254740993.5', INEXACT],
  ['1e-999999999', INEXACT],
  ['-1e999999999', INEXACT],
]

t.test('a number is parsed exactly, or is INEXACT', async (t) => {
  for (const [text, value] of numbers) {
    t.ok(Object.is((read(`{"id":${text}}`) as { id: unknown }).id, value), text)
    t.strictSame(read(`{"name":"a","id":${text},"tag":"b"}`), { name: 'a', id: value, tag: 'b' })
    t.strictSame(read(`{"x":${text},"id":${text}}`), { x: null, id: value })
    t.strictSame(read(` [ ${text} , {"id": ${text} } ] `), [null, { id: value }])
  }
})

t.test('the last of repeated members wins', async (t) => {
  const id = '9007199254740993'
  t.same(read(`{"id":"a","id":${id}}`), { id: 9007199254740993n })
  t.same(read(`{"id":${id},"id":"a"}`), { id: 'a' })
  t.same(read(`{"id":4,"\\u0069d":${id}}`), { id: 9007199254740993n })
  t.same(read(`{"id":${id},"id":4}`), { id: 4 })
})

t.test('an expected content is parsed like a plant', async (t) => {
  const plant = '{"name":"a","id":9007199254740993,"tag":[1]}'
  const content = { name: 'a', id: 9007199254740993n, tag: [] }
  t.strictSame(read(`[{"ifContent":${plant},"id":4}]`), [{ ifContent: content, id: 4 }])
  t.strictSame(read('{"ifContent":[{}],"id":4}'), { ifContent: [], id: 4 })
  t.strictSame(read('{"ifContent":{"x":1},"y":2}'), { ifContent: { x: null } })
  const nested = '{"ifContent":'.repeat(65)
  t.throws(() => read(nested), { message: 'body is nested deeper than 64 levels' })
})

t.test('a member named __proto__ is unknown like any other', async (t) => {
  for (const name of ['__proto__', '\\u005f_proto__']) {
    const plant = read(`{"${name}":{"id":4},"id":5}`) as object
    t.strictSame(Object.entries(plant), [
      ['__proto__', null],
      ['id', 5],
    ])
    t.equal(Object.getPrototypeOf(plant), Object.prototype)
  }
})

t.test('of all unknown members, only the first is built', async (t) => {
  const more = '{"y":1,"\\u0079":1,"z":{"y":1},"id":2}'
  t.strictSame(read(`[{"id":1},${more},${more}]`), [{ id: 1 }, { y: null, id: 2 }, { id: 2 }])
})

t.test('a name that V8 parses incorrectly does not affect the other members', async (t) => {
  read(String.raw`{"id":9007199254740993,"\\":0}`)
  const object = read(String.raw`{"id":9007199254740993,"\"":0}`) as { id: bigint }
  t.equal(object.id, 9007199254740993n)
})

const MORE = '[{"id":1},"a",1e16,true,false,null,{}]'

t.test('only plants and their members are built', async (t) => {
  const plant = `{"x":${MORE},"id":1,"name":${MORE},"tag":{"id":1},"":"","\\u0069":1}`
  const built = { x: null, id: 1, name: [], tag: {} }
  t.strictSame(read(plant), built)
  t.strictSame(read(`[[${plant}],${plant},true]`), [null, built, null])
  for (const scalar of ['"a"', '1', 'true', 'null']) t.equal(read(scalar), null)
  t.strictSame(read('{"name":"a\\n","tag":null}'), { name: 'a\n', tag: null })
})

const FIELDS = [
  { name: 'height', type: 'number' },
  { name: 'count', type: 'int64' },
  { name: 'constructor', type: 'string' },
  { name: 'toString', type: 'boolean' },
  { name: 'Größe', type: 'number' },
  { name: 'a"/\\', type: 'string' },
]

t.test('own fields are built; numbers as their doubles reproduce them', async (t) => {
  const parse = prepareParser([...plantMembers(loadContract()), ...FIELDS])
  const read = (text: string) => parse(Buffer.from(text)) as object
  for (const [text, value] of [
    ['12.50', 12.5],
    ['9007199254740993', INEXACT],
    ['0.1000000000000000055', INEXACT],
    ['1e20', 1e20],
    ['120', 120],
    ['null', null],
    ['"1"', '1'],
    ['[1]', []],
  ] as const) {
    t.strictSame(read(`{"height":${text}}`), { height: value }, text)
    t.strictSame(read(`{"Gr\u00f6ße":${text},"id":1}`), { Größe: value, id: 1 }, text)
  }
  t.strictSame(read('{"count":9007199254740993}'), { count: 9007199254740993n })
  t.strictSame(read('{"height":1,"x":2,"y":3,"Größe":4}'), { height: 1, x: null, Größe: 4 })
  t.strictSame(read(String.raw`{"a\"\/\\":"b","heights":1}`), { 'a"/\\': 'b', heights: null })
})

t.test('members can have the names of what objects inherit', async (t) => {
  const parse = prepareParser(FIELDS)
  const plant = parse(Buffer.from('{"constructor":"a","toString":true}')) as object
  t.strictSame(Object.entries(plant), [
    ['constructor', 'a'],
    ['toString', true],
  ])
  t.notOk(Object.hasOwn(parse(Buffer.from('{"count":1}')) as object, 'constructor'))
})

t.test('a hundred members of the same length are told apart', async (t) => {
  const fields = Array.from({ length: 100 }, (_, index) => ({
    name: `field${String(index).padStart(2, '0')}`,
    type: 'int64',
  }))
  const values = Object.fromEntries(fields.map(({ name }, index) => [name, index]))
  t.strictSame(prepareParser(fields)(Buffer.from(JSON.stringify(values))), values)
  t.strictSame(prepareParser(fields)(Buffer.from('{"field100":1}')), { field100: null })
})

t.test('each body of the contract is a plant or an array of plants', async (t) => {
  const document = loadContract()
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (resolveReference(document, schema.$ref) as Schema)
  const members = (schema: Schema): [string, Schema][] => {
    const { properties = {}, allOf = [], oneOf = [] } = resolve(schema)
    return [...Object.entries(properties), ...[...allOf, ...oneOf].flatMap(members)]
  }
  const bodies = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => Object.values(operation.requestBody?.content ?? {}))
  t.ok(bodies.length >= 4)
  for (const { schema } of bodies) {
    const { items = schema } = resolve(schema)
    const named = members(items)
    t.ok(named.length > 0)
    for (const [name, member] of named) {
      t.strictSame(read(`{"${name}":1}`), { [name]: 1 }, `${name} is built`)
      const isScalar = !/object|array/.test([resolve(member).type].flat().join())
      t.equal(isScalar, name !== 'ifContent', `${name} is a scalar, or a plant`)
    }
  }
})

t.test('a byte order mark before JSON is named, because it is invisible', async (t) => {
  const message = 'body is not valid JSON: remove the byte order mark (EF BB BF) at its start'
  t.throws(() => read('\uFEFF{"id":1}'), { constructor: InvalidJson, message })
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
  [`${'['.repeat(65)}`, 'is nested deeper than 64 levels'],
  [`${'{"x":'.repeat(65)}`, 'is nested deeper than 64 levels'],
]

t.test('invalid JSON is reported with its position, at any place', async (t) => {
  for (const [text, problem] of invalid) {
    t.throws(() => read(text), { constructor: InvalidJson, message: `body ${problem}` }, text)
    if (problem.includes('the end of input')) continue
    for (const before of ['{"x":', '{"id":', '[{},', '[{"x":[{"y":']) {
      const shift = (_match: string, byte: string) => `at byte ${Number(byte) + before.length}`
      const message = problem.startsWith('is nested')
        ? problem
        : problem.replace(/at byte (\d+)/, shift)
      t.throws(() => read(before + text), { message: `body ${message}` }, before + text)
    }
  }
  t.throws(() => parse(Buffer.from([0x22, 0xff, 0x22])), {
    constructor: InvalidJson,
    message: 'body is not valid UTF-8',
  })
})

t.test('64 levels of nesting are accepted', async (t) => {
  const levels = 62
  const text = `[{"x":${'['.repeat(levels)}${']'.repeat(levels)}}]`
  t.same(read(text), [{ x: null }])
  t.throws(() => read(text.replace('[]', '[{}]')), {
    message: 'body is nested deeper than 64 levels',
  })
})

t.test('plants are parsed as JSON.parse does, with exact numbers', async () => {
  const name = fc.constantFrom('"id"', '"name"', '"tag"', '"x"', '"\\u0069d"', '"id "', '"I"', '""')
  const plant = fc.array(fc.tuple(name, jsonText()), { maxLength: 6 }).map((members) => ({
    text: `{${members.map(([name, { text }]) => `${name}:${text}`).join()}}`,
    value: Object.fromEntries(members.map(([name, { value }]) => [JSON.parse(name), value])),
  }))
  const items = fc.array(fc.oneof(plant, jsonText()), { maxLength: 4 }).map((items) => ({
    text: `[${items.map(({ text }) => text).join()}]`,
    value: items.map(({ value }) => value),
  }))
  fc.assert(
    fc.property(fc.oneof(plant, items, jsonText()), ({ text, value }) => {
      const built = read(text)
      assert.deepEqual(keepPlants(built), keepPlants(value))
      const [unknown, ...others] = unknownNames(built)
      assert.deepEqual(others, [])
      if (unknown === undefined) assert.deepEqual(unknownNames(value), [])
      else assert.ok(unknownNames(value).includes(unknown))
      if (text.includes('\\')) return
      assert.deepEqual(keepPlants(built), keepPlants(JSON.parse(text, exactly)))
    }),
    { numRuns: runs(1000) },
  )
})

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const KNOWN = ['id', 'name', 'tag', 'op', 'ifMatch', 'ifContent']

/** The names of the unknown members of all plants in a value. */
function unknownNames(value: unknown): string[] {
  const names = [value].flat().flatMap((plant) => (isObject(plant) ? Object.keys(plant) : []))
  return names.filter((name) => !KNOWN.includes(name))
}

/** The known members of the plants in a value. */
function keepPlants(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => keepPlant(item))
  return keepPlant(value)
}

function keepPlant(value: unknown): object | null {
  if (!isObject(value)) return null
  const members = Object.entries(value).filter(([name]) => KNOWN.includes(name))
  return Object.fromEntries(members.map(([name, member]) => [name, keepMember(member)]))
}

function keepMember(value: unknown): unknown {
  if (Array.isArray(value)) return []
  return isObject(value) ? {} : value
}

t.test('JSON that JSON.parse rejects is rejected, at any place', async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom(...'{}[]",:\\-+.eE0159 tfnu\n\0é'),
  )
  fc.assert(
    fc.property(
      jsonText(),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(['', ''], ['{"x":', '}'], ['[{"id":', '}]']),
      ({ text }, changes, [before, after]) => {
        let changed = text
        for (const [at, removed, added] of changes) {
          const from = at % (changed.length + 1)
          changed = changed.slice(0, from) + added + changed.slice(from + removed)
        }
        const json = `${before}${changed}${after}`
        assert.equal(
          accepts(() => read(json.toWellFormed())),
          accepts(() => JSON.parse(json)),
          json,
        )
      },
    ),
    { numRuns: runs(1000) },
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
