import { INT64_MAX, INT64_MIN } from '../json/int64.ts'
import { type Member, type MemberType, type MemberValue, readText } from './members.ts'

const INT32_MIN = -(2 ** 31)
const INT32_MAX = 2 ** 31 - 1

/** Whether empty text is a value of an optional member. Otherwise, it stands for no value. */
export function canBeEmpty({ type, schema = { type: 'string' } }: Member): boolean {
  const { format, minLength = 0, enum: values = [''] } = schema
  return type === 'string' && format === undefined && minLength === 0 && values.includes('')
}

/** Reads the value of a member. Space around a number does not matter. */
export function readOwn(member: Member, text: string): MemberValue | undefined {
  return readText(member, member.type === 'string' ? text : text.trim())
}

/** What text must be to have a value of a type. Follows the name of the member. */
export const expectations: {
  readonly [Each in Exclude<MemberType, 'string'>]: (text: string) => string
} = {
  int64: (text) => expectInteger(text, INT64_MIN, INT64_MAX),
  int32: (text) => expectInteger(text, INT32_MIN, INT32_MAX),
  number: expectNumber,
  boolean: () => 'must be true or false',
}

function expectInteger(text: string, min: bigint | number, max: bigint | number): string {
  const [, sign, zeros, digits, point] = /^\s*(-?)(0*)([1-9]\d*)(\.0*)?\s*$/.exec(text) ?? []
  if (digits === undefined) return 'must be a whole number, written like 4 or -12'
  if (point !== undefined) return `must be written without a decimal point, like ${sign}${digits}`
  if (zeros !== '') return `must be written without zeros at the start, like ${sign}${digits}`
  return `must be between ${min} and ${max}`
}

function expectNumber(text: string): string {
  if (/^\s*-?[\d.]+,\d+\s*$/.test(text)) return 'must have a decimal point, not a comma'
  if (/^\s*-?(0|[1-9]\d*)(\.\d+)?\s*$/.test(text)) return 'must have fewer digits'
  return 'must be a number, written like 4 or -1.5'
}

/** A problem for people who have typed text, and do not know that a patch can also have null. */
export function inPlainWords(problem: string): string {
  return problem.replace(/\ban int(?:32|64)\b/, 'a whole number').replace(/ or null$/, '')
}
