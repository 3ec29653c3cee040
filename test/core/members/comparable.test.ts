import fc from 'fast-check'
import t from 'tap'
import { isComparable, toComparable } from '../../../core/members/comparable.ts'
import type { Member, MemberType, MemberValue } from '../../../core/members/members.ts'
import type { FieldSchema } from '../../../core/members/own-fields.ts'
import { anyText } from '../../helpers/plants/arbitraries.ts'

const memberOf = (type: MemberType, schema?: FieldSchema): Member => ({
  name: 'member',
  type,
  isRequired: false,
  ...(schema && { schema }),
})

const DATE_TIME = memberOf('string', { type: 'string', format: 'date-time' })
const DATE = memberOf('string', { type: 'string', format: 'date' })

/** -1, 0 or 1. */
const order = (member: Member, one: MemberValue, other: MemberValue) => {
  const [left, right] = [toComparable(member, one), toComparable(member, other)]
  return left === right ? 0 : left < right ? -1 : 1
}

t.test('numbers, text and booleans are ordered by their values', async (t) => {
  for (const [type, ...values] of [
    ['int64', -(2n ** 63n), -(2n ** 63n) + 1n, -1n, 0n, 9n, 10n, 2n ** 63n - 1n],
    ['int32', -2147483648, -10, -9, 0, 9, 10],
    ['number', -1e300, -0.5, 0, 5e-324, 9, 10, 1e21],
    ['boolean', false, true],
    ['string', '', '10', '9', 'A', 'a', 'e\u0301', '\u00e9'],
  ] as const) {
    const member = memberOf(type)
    for (const [index, one] of values.entries())
      for (const [other, value] of values.entries())
        t.equal(order(member, one, value), Math.sign(index - other), `${type} ${one} ${value}`)
  }
  t.equal(order(memberOf('number'), -0, 0), 0)
  fc.assert(
    fc.property(anyText(), anyText(), (one, other) => {
      return (order(memberOf('string'), one, other) === 0) === (one === other)
    }),
  )
})

t.test('dates are ordered', async (t) => {
  const dates = ['0000-01-01', '0999-12-31', '1969-12-31', '2026-02-28', '2026-11-25', '9999-12-31']
  for (const [index, one] of dates.entries())
    for (const [other, date] of dates.entries())
      t.equal(order(DATE, one, date), Math.sign(index - other))
})

t.test('the same instant can be written in several ways', async (t) => {
  for (const [one, ...others] of [
    [
      '2026-11-25T23:40:00Z',
      ...['2026-11-25t23:40:00z', '2026-11-25T23:40:00.000Z', '2026-11-25T23:40:00-00:00'],
      ...['2026-11-26T01:10:00+01:30', '2026-11-25T00:40:00-23:00', '2026-11-25T23:40:00.0+00:00'],
    ],
    ['1998-12-31T23:59:60Z', '1999-01-01T00:59:60.00+01:00', '1998-12-31T15:59:60-08:00'],
    ['0000-01-01T00:30:00+01:00', '0000-01-01T00:00:00+00:30'],
    ['9999-12-31T23:30:00-01:00', '9999-12-31T23:59:00-00:31'],
  ] as const)
    for (const other of others) t.equal(order(DATE_TIME, one, other), 0, other)
})

t.test('instants are ordered, even in and next to leap seconds and the first year', async (t) => {
  const instants = [
    ...['0000-01-01T00:00:00+23:59', '0000-01-01T00:00:00+00:01', '0000-01-01T00:00:00Z'],
    ...['0000-12-31T23:59:59Z', '1969-12-31T23:59:59.9Z', '1970-01-01T00:00:00Z'],
    ...['1998-12-31T23:59:59Z', '1998-12-31T23:59:59.999Z', '1998-12-31T23:59:60Z'],
    ...['1998-12-31T23:59:60.5Z', '1999-01-01T00:00:00Z', '2026-11-25T23:40:00.1Z'],
    ...['2026-11-25T23:40:00.10000000000000000001Z', '2026-11-25T23:40:00.11Z'],
    ...['2026-11-25T23:40:00.2Z', '2026-11-25T23:40:01Z', '2026-11-26T00:40:02+01:00'],
    ...['9999-12-31T23:59:60Z', '9999-12-31T23:59:59-00:01', '9999-12-31T23:59:59-23:59'],
  ]
  for (const [index, one] of instants.entries())
    for (const [other, instant] of instants.entries())
      t.equal(order(DATE_TIME, one, instant), Math.sign(index - other), `${one} ${instant}`)
})

const MINUTE_MS = 60_000

/** An instant in milliseconds in years of four digits, as local time with some offset and some more digits. */
const dateTime = () =>
  fc
    .record({
      ms: fc.integer({
        min: Date.parse('0000-01-02T00:00:00Z'),
        max: Date.parse('9999-12-30T00:00:00Z'),
      }),
      offset: fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
      zeros: fc.nat({ max: 30 }),
    })
    .map(({ ms, offset, zeros }) => {
      const local = new Date(ms + offset * MINUTE_MS).toISOString().slice(0, -1)
      const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60]
      const time = [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':')
      return { ms, text: `${local}${'0'.repeat(zeros)}${offset < 0 ? '-' : '+'}${time}` }
    })

t.test('random instants are ordered like their milliseconds', async () => {
  fc.assert(
    fc.property(dateTime(), dateTime(), fc.integer({ min: -1, max: 1 }), (one, other, step) => {
      const next = new Date(one.ms + step).toISOString()
      return (
        order(DATE_TIME, one.text, other.text) === Math.sign(one.ms - other.ms) &&
        order(DATE_TIME, next, one.text) === step
      )
    }),
  )
})

t.test('a value of another type, or text that is no date, is not comparable', async (t) => {
  for (const [member, value, expected] of [
    [memberOf('int64'), 1n, true],
    [memberOf('int64'), 1, false],
    [memberOf('int32'), 1.5, false],
    [memberOf('number'), '1', false],
    [memberOf('boolean'), 0, false],
    [memberOf('string'), '', true],
    [memberOf('string'), null, false],
    [memberOf('string'), undefined, false],
    [DATE, '2026-11-25', true],
    [DATE, '2026-11-25T00:00:00Z', false],
    [DATE, 'x', false],
    [DATE_TIME, '2026-11-25', false],
    [DATE_TIME, '2026-11-25T00:00:00', false],
  ] as const)
    t.equal(isComparable(member, value), expected, `${member.type} ${value}`)
  t.ok(isComparable(DATE_TIME, '2026-99-99T99:99:99+99:99'), 'whether it exists is not checked')
  t.type(toComparable(DATE_TIME, '2026-99-99T99:99:99+99:99'), 'string')
})

t.test('a fraction with a million zeros takes linear time', async (t) => {
  const zeros = '0'.repeat(2 ** 20)
  const [one, other] = [`2026-11-25T23:40:00.${zeros}1Z`, `2026-11-25T23:40:00.${zeros}10Z`]
  t.equal(order(DATE_TIME, one, other), 0)
  t.equal(order(DATE_TIME, `2026-11-25T23:40:00.${zeros}Z`, one), -1)
})
