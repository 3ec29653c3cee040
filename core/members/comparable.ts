import { isValueOf, type Member, type MemberValue } from './members.ts'

/** Its groups are the date and time without seconds, the second, the fraction, and the offset unless it is `Z`. */
const DATE_TIME = /^(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** What text of some formats looks like. */
const FORMS: { readonly [format: string]: RegExp } = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': DATE_TIME,
}

const MINUTE_MS = 60_000

/**
 * What orders the values of a member with `<` and `===`: numbers by their values, each `date-time` (RFC 3339) by its
 * instant, which can be in a leap second, other text by its code units, and false before true.
 *
 * @param value for which `isComparable` is true
 */
export function toComparable({ schema }: Member, value: MemberValue): number | bigint | string {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'string' || schema?.format !== 'date-time') return value
  const [, local = '', second, fraction = '', sign, hours, minutes] = DATE_TIME.exec(value) ?? []
  // All offsets are whole minutes, and a minute can have 61 seconds.
  const start = local.replace('t', 'T')
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
  return (offset ? inUtc(start, offset) : start) + second + withoutFinalZeros(fraction)
}

/** A minute in UTC, to which an offset in minutes was added. It can be in the year before 0 or in the one after 9999. */
function inUtc(minute: string, offset: number): string {
  const utc = Date.parse(`${minute}Z`) - offset * MINUTE_MS
  if (Number.isNaN(utc)) return minute
  // Signs precede these years. A colon follows all digits.
  return new Date(utc).toISOString().slice(0, -':00.000Z'.length).replace('+', ':')
}

/** Whether a value has the type of a member and, if it is a date, looks like one. */
export function isComparable(member: Member, value: unknown): value is MemberValue {
  if (!isValueOf(member, value)) return false
  const form = FORMS[member.schema?.format ?? '']
  return form === undefined || form.test(String(value))
}

/** A loop, because `/0+$/` takes quadratic time in V8. */
function withoutFinalZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
