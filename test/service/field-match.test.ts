/** Which stored own fields meet conditions. */
import fc from 'fast-check'
import t from 'tap'
import type { Member, MemberType, MemberValue } from '../../core/members/members.ts'
import { writeJson } from '../../core/members/members.ts'
import type { FieldSchema } from '../../core/members/own-fields.ts'
import { toFieldMatch } from '../../service/store/field-match.ts'
import { writeFields } from '../../service/store/plant-content.ts'
import type { FieldCondition } from '../../service/store/plant-filter.ts'
import { anyText } from '../helpers/plants/arbitraries.ts'

const memberOf = (name: string, type: MemberType, format?: FieldSchema['format']): Member => ({
  name,
  type,
  isRequired: false,
  schema: {
    type: type === 'int32' || type === 'int64' ? 'integer' : type,
    ...(format && { format }),
  },
})

const HEIGHT = memberOf('height', 'int32', 'int32')
const SERIAL = memberOf('serial', 'int64', 'int64')
const PRICE = memberOf('price', 'number')
const STOCK = memberOf('inStock', 'boolean')
const NOTE = memberOf('note', 'string')
const PLANTED = memberOf('planted', 'string', 'date')
const WATERED = memberOf('watered', 'string', 'date-time')

const matches = (fields: string | null | undefined, ...conditions: FieldCondition[]) =>
  toFieldMatch(conditions)(fields)

const FIELDS =
  '"height":120,"inStock":false,"note":"a,\\"height\\":7","planted":"2026-11-25","price":1e-7,"serial":9223372036854775807,"watered":"2026-11-25T23:30:00-01:00"'

const CASES: readonly (readonly [expected: boolean, ...conditions: FieldCondition[]])[] = [
  [true],
  [true, { field: HEIGHT, is: [120] }],
  [true, { field: HEIGHT, is: [1, 120, 7] }],
  [false, { field: HEIGHT, is: [7] }],
  [true, { field: HEIGHT, min: 120, max: 120 }],
  [false, { field: HEIGHT, min: 121 }],
  [false, { field: HEIGHT, max: 119 }],
  [false, { field: HEIGHT, is: [120], max: 119 }],
  [false, { field: HEIGHT, isAbsent: true }],
  [true, { field: SERIAL, is: [2n ** 63n - 1n] }],
  [false, { field: SERIAL, max: 2n ** 63n - 2n }],
  [true, { field: PRICE, is: [0.0000001] }],
  [true, { field: STOCK, is: [false] }],
  [false, { field: STOCK, is: [true] }],
  [true, { field: NOTE, is: ['a,"height":7'] }],
  [true, { field: PLANTED, min: '2026-11-25', max: '2026-11-25' }],
  [false, { field: PLANTED, min: '2026-11-26' }],
  [true, { field: WATERED, is: ['2026-11-26T00:30:00.0Z'] }],
  [false, { field: WATERED, max: '2026-11-26T00:29:59.999Z' }],
  [true, { field: memberOf('x', 'string'), isAbsent: true }],
  [false, { field: memberOf('x', 'string'), is: ['x'] }],
  [true, { field: HEIGHT, min: 1 }, { field: memberOf('x', 'string'), isAbsent: true }],
  [false, { field: memberOf('x', 'string'), isAbsent: true }, { field: HEIGHT, max: 1 }],
]

t.test('all conditions must be met', async (t) => {
  for (const [expected, ...conditions] of CASES) {
    const text = conditions.map(({ field: { name }, ...rest }) => [
      name,
      Object.entries(rest).join(),
    ])
    t.equal(matches(FIELDS, ...conditions), expected, text.join())
  }
})

t.test('a plant without own fields has only absent ones', async (t) => {
  for (const fields of [undefined, null, '']) {
    t.ok(matches(fields))
    t.ok(matches(fields, { field: HEIGHT, isAbsent: true }, { field: NOTE, isAbsent: true }))
    t.notOk(matches(fields, { field: HEIGHT, is: [1] }))
    t.notOk(matches(fields, { field: HEIGHT, isAbsent: true }, { field: NOTE, is: ['x'] }))
  }
})

t.test('a stored value that the field cannot have counts as none', async (t) => {
  for (const [field, ...stored] of [
    [HEIGHT, '"120"', 'true', '1.5', 'null', '{}', '[1]', '"'],
    [SERIAL, '1.5', '1e30', '"1"', '9223372036854775808', '-', '01'],
    [PRICE, '"1"', 'false', 'NaN', 'Infinity', ''],
    [STOCK, '0', '"true"', 'TRUE'],
    [NOTE, '1', 'true', '"\\x"', "'a'", '"\n"', '"\\'],
    [PLANTED, '"x"', '"2026-11-25T00:00:00Z"', '20261125'],
    [WATERED, '"2026-11-25"', '"x"', '1'],
  ] as const)
    for (const json of stored) {
      const fields = `"${field.name}":${json}`
      t.ok(matches(fields, { field, isAbsent: true }), fields)
      t.notOk(matches(fields, { field, min: 0 }), fields)
    }
  const other = '"height":[1,2],"note":"x"'
  t.doesNotThrow(() => matches(other, { field: NOTE, is: ['x'] }))
})

t.test('a number matches in every notation', async (t) => {
  for (const json of ['5', '5.0', '0.5e1', '50E-1', '5e+0'])
    for (const [field, five] of [
      [HEIGHT, 5],
      [SERIAL, 5n],
      [PRICE, 5],
    ] as const)
      t.ok(matches(`"${field.name}":${json}`, { field, is: [five], min: five, max: five }), json)
})

/** Names and text that look like the parts of others. */
const PARTS = [',', ':', '"', '\\', 'a', '":', ',"a":', '\\"', ':1,', '{', '\u2028', '🌱']

const hostileText = () =>
  fc.oneof(
    anyText(),
    fc.array(fc.constantFrom(...PARTS), { maxLength: 4 }).map((part) => part.join('')),
  )

t.test('random text fields are found by their names, among any others', async () => {
  const fieldsOf = fc.dictionary(hostileText(), fc.oneof(hostileText(), fc.integer()), {
    maxKeys: 6,
  })
  fc.assert(
    fc.property(fieldsOf, fc.array(hostileText(), { maxLength: 3 }), (values, others) => {
      const entries = Object.entries(values)
      const fields = writeFields(entries.map(([name, value]) => [name, writeJson(value)]))
      return [...Object.keys(values), ...others].every((name) => {
        const value: MemberValue | undefined = Object.hasOwn(values, name)
          ? values[name]
          : undefined
        const field = memberOf(name, typeof value === 'number' ? 'int32' : 'string')
        return (
          matches(fields, { field, isAbsent: true }) === (value === undefined) &&
          matches(fields, { field, is: [value ?? ''] }) === (value !== undefined)
        )
      })
    }),
  )
})

t.test('random text never throws', async () => {
  const conditions = [HEIGHT, SERIAL, NOTE, WATERED].map(
    (field) => ({ field, isAbsent: true }) as const,
  )
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PARTS, '"height":', '"note":', '1'), { maxLength: 12 }),
      (parts) => {
        matches(parts.join(''), ...conditions)
        matches(parts.join(''), { field: HEIGHT, min: 1 }, { field: NOTE, is: ['a'] })
      },
    ),
  )
})

t.test('a megabyte of quotes, backslashes or small fields takes linear time', async (t) => {
  const half = 2 ** 19
  const many = Array.from({ length: half / 8 }, (_, index) => `"${index}":0`).join()
  for (const fields of [
    `"a":${JSON.stringify('"'.repeat(half))},"note":"x"`,
    `"a":${JSON.stringify('\\'.repeat(half))},"note":"x"`,
    `"a":${JSON.stringify('"note":'.repeat(half / 8))},"note":"x"`,
    `${many},"note":"x"`,
  ])
    t.ok(matches(fields, { field: NOTE, is: ['x'] }))
  const text = '"\\'.repeat(half)
  t.ok(matches(`"note":${JSON.stringify(text)}`, { field: NOTE, is: [text] }))
})
