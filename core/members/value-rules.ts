import type { Member, MemberType, MemberValue } from './members.ts'
import type { FieldSchema, TextFormat } from './own-fields.ts'
import { TEXT_FORMATS } from './text-formats.ts'

/** What the values of members must be. The service's validators and the page, which cannot run them, share these rules. */

type NumberType = Exclude<MemberType, 'string' | 'boolean'>

/** A type of numbers. */
export interface NumberRule {
  /** What a value must be in a message, such as `an int64`. */
  readonly noun: string
  /** Reads an exact number from a value. Returns undefined if there is none. */
  readonly read: (value: unknown) => bigint | number | undefined
}

export const NUMBER_RULES: Readonly<Record<NumberType, NumberRule>> = {
  int64: { noun: 'an int64', read: readInt64 },
  int32: { noun: 'an int32', read: (value) => toInt32(readInt64(value)) },
  number: { noun: 'a number', read: readNumber },
}

/** The messages for strings that violate a keyword, by its value. */
export const TEXT_MESSAGES = {
  storable: 'must not contain U+0000 or a lone surrogate',
  format: (format: TextFormat) => TEXT_FORMATS[format].message,
  minLength: (length: number) => `must have ${length} or more characters`,
  maxLength: (length: number) => `must have ${length} or fewer characters`,
  enum: (values: readonly unknown[]) => `must be ${listAlternatives(values)}`,
} as const

/**
 * What a value that has the type of a member must be instead, in the words of the service, such as
 * `must be an int32 from 0 to 500`. Undefined if it is valid.
 */
export function problemOf({ type, schema }: Member, value: MemberValue): string | undefined {
  if (type === 'boolean') return undefined
  if (type === 'string') return problemOfText(String(value), schema)
  const { noun, read } = NUMBER_RULES[type]
  const isValid = isInRange(read(value), schema)
  return isValid ? undefined : `must be ${noun}${describeRange(schema)}`
}

/** Checks the keywords in the order of the service's validators. */
function problemOfText(text: string, schema: Partial<FieldSchema> = {}): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, enum: values } = schema
  const format = schema.format as TextFormat | undefined
  if (values !== undefined && !values.includes(text)) return TEXT_MESSAGES.enum(values)
  if (!isStorable(text)) return TEXT_MESSAGES.storable
  if (format !== undefined && !TEXT_FORMATS[format].isValid(text))
    return TEXT_MESSAGES.format(format)
  if (isShorter(text, minLength)) return TEXT_MESSAGES.minLength(minLength)
  return isShorter(text, maxLength + 1) ? undefined : TEXT_MESSAGES.maxLength(maxLength)
}

/** Whether a string has fewer code points. */
function isShorter(text: string, length: number): boolean {
  if (text.length < length) return true
  // A code point has at most two units.
  return text.length < 2 * length && text.replace(/./gsu, '.').length < length
}

/** Whether a database can return a string unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The least and the greatest of some numbers, inclusive. */
export interface NumberRange {
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}

export function isInRange(
  number: bigint | number | undefined,
  { minimum, maximum }: NumberRange = {},
): boolean {
  if (number === undefined) return false
  if (minimum !== undefined && number < minimum) return false
  return maximum === undefined || number <= maximum
}

/** Follows a noun, such as ` from 0 to 500`. */
export function describeRange({ minimum, maximum }: NumberRange = {}): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`
}

const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Joins values as in `create, replace, update or remove`. */
export function listAlternatives(values: readonly unknown[]): string {
  return ALTERNATIVES.format(values.map(String))
}

function readInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  // The parser returns no bigint beyond int64, but the seed of an embedded service can have one.
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : undefined
  // Not a number, or INEXACT.
  return undefined
}

export function toInt32(integer: bigint | undefined): number | undefined {
  return integer !== undefined && BigInt.asIntN(32, integer) === integer
    ? Number(integer)
    : undefined
}

function readNumber(value: unknown): number | undefined {
  // An embedded service can have -0, NaN and Infinity.
  return typeof value === 'number' && Number.isFinite(value) ? value + 0 : undefined
}
