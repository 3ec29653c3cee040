import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { compareFields, violationFinder } from '../../../../core/contract/overlay/field-changes.ts'
import { readFieldSchema } from '../../../../core/contract/overlay/field-schemas.ts'
import { InvalidJson } from '../../../../core/json/exact-json.ts'
import type { FieldSchema, OwnField } from '../../../../core/members/own-fields.ts'

const string = { type: 'string' } as const
const int32 = { type: 'integer', format: 'int32' } as const
const int64 = { type: 'integer', format: 'int64' } as const
const number = { type: 'number' } as const
const boolean = { type: 'boolean' } as const

const field = (name: string, schema: FieldSchema): OwnField => ({ name, schema })

const NOTHING = { added: [], narrowed: [], gone: [] }

/** Compares fields with each other, next to another one, in another order. */
const compare = (before: FieldSchema, after: FieldSchema) =>
  compareFields(
    [field('a', string), field('height', before)],
    [field('height', after), field('a', string)],
  )

t.test('fields are added and gone', async (t) => {
  const [one, two, three] = [field('a', string), field('b', int32), field('constructor', boolean)]
  t.strictSame(compareFields([one, two], [two, three]), { ...NOTHING, added: [three], gone: [one] })
  t.strictSame(compareFields([], []), NOTHING)
})

/** Pairs with the same values. */
const same: readonly [FieldSchema, FieldSchema][] = [
  [string, { ...string, title: 'x', description: 'x', examples: ['x'] }],
  [
    { ...string, format: 'date' },
    { ...string, format: 'date', title: 'x' },
  ],
  [string, { ...string, minLength: 0 }],
  [int32, { ...int32, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }],
  [
    { ...number, minimum: 0 },
    { ...number, minimum: -0 },
  ],
  [
    { ...string, enum: ['a', 'b'] },
    { ...string, enum: ['b', 'a'], maxLength: 1 },
  ],
]

t.test('a field with the same values is unchanged', async (t) => {
  for (const [one, other] of same) {
    t.strictSame(compare(one, other), NOTHING, JSON.stringify([one, other]))
    t.strictSame(compare(other, one), NOTHING, JSON.stringify([other, one]))
  }
})

/** Pairs of a wider schema and one with fewer values, and the reason why a change to the latter is refused. */
const wider: readonly [wide: FieldSchema, narrow: FieldSchema, reason: string][] = [
  [int64, int32, 'its type was int64 and is int32'],
  [number, int32, 'its type was number and is int32'],
  [
    { ...number, minimum: -(2 ** 31) },
    { ...int32, maximum: 4 },
    'its type was number and is int32',
  ],
  [string, { ...string, format: 'date' }, 'its format was not set and is date'],
  [string, { ...string, maxLength: 0 }, 'its maxLength was not set and is 0'],
  [{ ...string, maxLength: 9 }, { ...string, maxLength: 8 }, 'its maxLength was 9 and is 8'],
  [{ ...int64, maximum: 500 }, { ...int64, maximum: 300 }, 'its maximum was 500 and is 300'],
  [
    int64,
    { ...int64, minimum: Number.MIN_SAFE_INTEGER },
    'its minimum was not set and is -9007199254740991',
  ],
  [int32, { ...int32, minimum: 0 }, 'its minimum was not set and is 0'],
  [
    { ...string, enum: ['sun', 'shade'] },
    { ...string, enum: ['shade'] },
    '"sun" is no longer valid: must be shade',
  ],
  [{ ...string, maxLength: 3 }, { ...string, enum: ['sun'] }, 'it had no enum and has one'],
]

t.test('a field with more values is not narrowed, and one with fewer is', async (t) => {
  for (const [wide, narrow, reason] of wider) {
    const title = JSON.stringify([wide, narrow])
    t.strictSame(compare(narrow, wide), NOTHING, title)
    const narrowed = [{ name: 'height', reason }]
    t.strictSame(compare(wide, narrow), { ...NOTHING, narrowed }, title)
  }
})

/** Changes that are refused in both directions. */
const incompatible: readonly [FieldSchema, FieldSchema, reason: string][] = [
  [string, boolean, 'its type was string and is boolean'],
  [int64, number, 'its type was int64 and is number'],
  [{ ...int32, minimum: 0 }, { ...int64, minimum: 1 }, 'its minimum was 0 and is 1'],
  [
    { ...string, format: 'date' },
    { ...string, format: 'email' },
    'its format was date and is email',
  ],
  [
    { ...string, enum: ['sun'] },
    { ...string, minLength: 4 },
    '"sun" is no longer valid: must have 4 or more characters',
  ],
]

t.test('a field with other values is narrowed', async (t) => {
  for (const [before, after, reason] of incompatible) {
    t.strictSame(compare(before, after), { ...NOTHING, narrowed: [{ name: 'height', reason }] })
    t.match(compare(after, before), { narrowed: [{ name: 'height' }] })
  }
})

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const words = fc.constantFrom('', 'a', 'bb', 'ccc', '2026-11-25', 'a@b', 'x:', '2026-02-30', '🌲')

const schemas = fc
  .oneof(
    fc.record({
      type: fc.constant('string'),
      format: optional(fc.constantFrom('date', 'email', 'uri')),
      minLength: optional(fc.nat({ max: 3 })),
      maxLength: optional(fc.nat({ max: 3 })),
      enum: optional(fc.uniqueArray(words, { minLength: 1, maxLength: 3 })),
    }),
    fc.record({
      type: fc.constant('integer'),
      format: fc.constantFrom('int32', 'int64'),
      minimum: optional(fc.integer({ min: -2, max: 2 })),
      maximum: optional(fc.integer({ min: -2, max: 2 })),
    }),
    fc.record({
      type: fc.constant('number'),
      minimum: optional(fc.constantFrom(-2, -0.5, 0.5)),
      maximum: optional(fc.constantFrom(-0.5, 0.5, 2)),
    }),
    fc.record({ type: fc.constant('boolean') }),
  )
  .map((schema) => JSON.parse(JSON.stringify(schema)))
  .filter((schema) => {
    try {
      readFieldSchema('', 'height', schema)
      return true
    } catch {
      return false
    }
  })

const TEXTS = [
  ...['', 'a', 'bb', 'ccc', '2026-11-25', 'a@b', 'x:', '🌲'].map((word) => JSON.stringify(word)),
  ...['-3', '-2', '-1', '-0.5', '0', '0.5', '1', '2', '3', '-2147483648', '2147483648'],
  ...['9007199254740993', '-9223372036854775808', '1e+300', 'true', 'false'],
]

t.test('a value that was valid is valid unless the field is narrowed', async (t) => {
  const seen = { narrowed: 0, others: 0 }
  fc.assert(
    fc.property(schemas, schemas, (before, after) => {
      const { narrowed } = compare(before, after)
      seen[narrowed.length > 0 ? 'narrowed' : 'others'] += 1
      if (narrowed.length > 0) return
      const [was, is] = [before, after].map((schema) => violationFinder(field('height', schema)))
      for (const text of TEXTS)
        if (was?.(text) === undefined) assert.equal(is?.(text), undefined, text)
    }),
    { numRuns: 500 },
  )
  for (const [result, count] of Object.entries(seen)) t.ok(count > 5, `${result}: ${count}`)
})

t.test('a stored value that is invalid is explained', async (t) => {
  for (const [schema, text, violation] of [
    [int32, '4', undefined],
    [int32, '2147483648', 'must be an int32'],
    [int64, '9223372036854775807', undefined],
    [number, '0.1', undefined],
    [{ ...number, minimum: -1, maximum: 9.5 }, '9.6', 'must be a number from -1 to 9.5'],
    [boolean, 'true', undefined],
    [boolean, '"true"', 'must be boolean'],
    [{ ...string, maxLength: 3 }, '"sun"', undefined],
    [{ ...string, maxLength: 2 }, '"s\\"n"', 'must have 2 or fewer characters'],
    [{ ...string, format: 'date' }, '"x"', 'must be a date such as 2026-11-25'],
  ] as const) {
    const find = violationFinder(field('constructor', schema))
    t.equal(find(text), violation, text)
  }
  t.throws(() => violationFinder(field('a', int32))('4 5'), {
    constructor: InvalidJson,
    message: "body is not valid JSON: expected ',' or '}' at byte 11",
  })
})
