import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { extendContract, loadContract, plantMembers } from '../../../core/contract/contract.ts'
import { compileComponent } from '../../../core/contract/validators.ts'
import { known } from '../../../core/known.ts'
import { members } from '../../../core/members/members.gen.ts'
import type { Member, MemberType, MemberValue } from '../../../core/members/members.ts'
import { isValueOf } from '../../../core/members/members.ts'
import type { FieldSchema } from '../../../core/members/own-fields.ts'
import { problemOf } from '../../../core/members/value-rules.ts'
import { runs } from '../../helpers/plants/runs.ts'

const own = (schema: FieldSchema): Member => ({
  name: 'light',
  type: (schema.type === 'integer' ? schema.format : schema.type) as MemberType,
  isRequired: false,
  schema,
})

for (const { schema, value, problem } of [
  {
    schema: { type: 'string', format: 'date' },
    value: '25.11.2026',
    problem: 'must be a date such as 2026-11-25',
  },
  { schema: { type: 'string', format: 'date' }, value: '2026-11-25', problem: undefined },
  {
    schema: { type: 'string', enum: ['sun', 'half shade', 'shade'] },
    value: 'dark',
    problem: 'must be sun, half shade or shade',
  },
  {
    schema: { type: 'string', maxLength: 2 },
    value: '🌲🌲🌲',
    problem: 'must have 2 or fewer characters',
  },
  { schema: { type: 'string', minLength: 2, maxLength: 2 }, value: '🌲🌲', problem: undefined },
  {
    schema: { type: 'string', minLength: 2 },
    value: '🌲',
    problem: 'must have 2 or more characters',
  },
  {
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 10000 },
    value: 10001,
    problem: 'must be an int32 from 0 to 10000',
  },
  {
    schema: { type: 'integer', format: 'int32' },
    value: 2 ** 31,
    problem: 'must be an int32',
  },
  {
    schema: { type: 'integer', format: 'int64', minimum: 1 },
    value: 0n,
    problem: 'must be an int64 of at least 1',
  },
  {
    schema: { type: 'number', maximum: 9.5 },
    value: 9.6,
    problem: 'must be a number of at most 9.5',
  },
] as const) {
  t.test(`${JSON.stringify(schema)}: ${value}`, async (t) => {
    t.equal(problemOf(own(schema), value), problem)
  })
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('a', 'é', '🌲', '\0', '\ud800', '\udc00'), maxLength: 6 }),
  fc.constantFrom('sun', 'shade', '2026-11-25', '2026-02-30', 'https://[::1]/', 'http://[::1%1]/'),
  fc.constantFrom('2026-11-25T23:40:00Z', 'a:b', 'flora@example.com', 'flora@', ''),
)

const limit = fc.option(fc.nat({ max: 4 }), { nil: undefined })

const number = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(2 ** 31, 2 ** 31 - 1, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, 2 ** 53 - 1, -0),
)
const double = fc.oneof(number, fc.double(), fc.constantFrom(0.5, 1e300, 5e-324, 0.1 + 0.2))
const int64 = fc.oneof(
  number.map(BigInt),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n),
)

/** What every field of a type can have, without the keywords that are undefined. */
const schemaOf = (keywords: { readonly [Keyword in keyof FieldSchema]: fc.Arbitrary<unknown> }) =>
  fc.record(keywords).map((schema) => {
    const { minimum, maximum, minLength, maxLength } = schema as FieldSchema
    const isOrdered = !(Number(minimum) > Number(maximum) || Number(minLength) > Number(maxLength))
    const entries = Object.entries(schema).filter(
      ([keyword, value]) => value !== undefined && (isOrdered || !keyword.startsWith('max')),
    )
    return Object.fromEntries(entries) as unknown as FieldSchema
  })

const bound = fc.option(
  fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31))),
  { nil: undefined },
)

/** Each kind of field, and values of its type. */
const FIELDS: readonly (readonly [fc.Arbitrary<FieldSchema>, fc.Arbitrary<MemberValue>])[] = [
  [
    schemaOf({
      type: fc.constant('string'),
      format: fc.constantFrom(undefined, 'date', 'date-time', 'uri', 'email'),
      minLength: limit,
      maxLength: limit,
      enum: fc.option(fc.uniqueArray(text, { minLength: 1, maxLength: 3 }), {
        nil: undefined,
        freq: 1,
      }),
    }),
    text,
  ],
  [
    schemaOf({
      type: fc.constant('integer'),
      format: fc.constant('int32'),
      minimum: bound,
      maximum: bound,
    }),
    number,
  ],
  [
    schemaOf({
      type: fc.constant('integer'),
      format: fc.constant('int64'),
      minimum: fc.oneof(bound, fc.constant(Number.MIN_SAFE_INTEGER)),
      maximum: fc.oneof(bound, fc.constant(Number.MAX_SAFE_INTEGER)),
    }),
    int64,
  ],
  [
    schemaOf({
      type: fc.constant('number'),
      minimum: fc.oneof(bound, fc.constant(-0.5)),
      maximum: fc.oneof(bound, fc.constant(0.5)),
    }),
    double,
  ],
  [schemaOf({ type: fc.constant('boolean') }), fc.boolean()],
]

/** What the service says about a member of a new plant. */
function judgeNewPlant(isValid: ReturnType<typeof compileComponent>, name: string, value: unknown) {
  const plant = { id: 1, name: 'Abies alba', [name]: value }
  if (isValid(plant)) return undefined
  const [error] = isValid.errors ?? []
  assert.equal(error?.instancePath, `/${name}`)
  return error?.message
}

for (const [schemas, values] of FIELDS) {
  const [{ type, format = type }] = fc.sample(schemas, 1) as [FieldSchema]
  const kind = type === 'string' ? type : format
  t.test(`values of own fields are judged as by the service: ${kind}`, async (t) => {
    const problems = new Set<string | undefined>()
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 30, maxLength: 30 }), (schema, list) => {
        const document = extendContract(loadContract(), [{ name: 'light', schema }])
        const isValid = compileComponent(document, 'NewPlant')
        const member = known(plantMembers(document).find(({ name }) => name === 'light'))
        for (const value of list) {
          assert.ok(isValueOf(member, value))
          const problem = problemOf(member, value)
          assert.equal(problem, judgeNewPlant(isValid, 'light', value))
          problems.add(problem)
        }
      }),
      { numRuns: runs(60) },
    )
    t.ok(problems.has(undefined), 'some are valid')
    t.equal(problems.size > 1, kind !== 'boolean', 'some are not')
  })
}

t.test('values of the contract’s own members are judged as by the service', async () => {
  const isValid = compileComponent(loadContract(), 'NewPlant')
  for (const member of members) {
    fc.assert(
      fc.property(member.type === 'string' ? text : int64, (value) => {
        assert.equal(problemOf(member, value), judgeNewPlant(isValid, member.name, value))
      }),
      { numRuns: runs(500) },
    )
  }
})
