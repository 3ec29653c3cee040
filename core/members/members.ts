import { readDecimal } from '../json/decimal.ts'
import { parseInt64 } from '../json/int64.ts'
import type { FieldSchema } from './own-fields.ts'

/** How to recognize the values of each type. */
const IS_VALUE = {
  int64: (value: unknown) => typeof value === 'bigint',
  int32: (value: unknown) => Number.isInteger(value),
  number: (value: unknown) => typeof value === 'number',
  boolean: (value: unknown) => typeof value === 'boolean',
  string: (value: unknown) => typeof value === 'string',
} as const

/** How to read them from text, such as a cell or the field of a form. Apart, because the client's bundle has no use for it. */
const READ: { readonly [Type in MemberType]: (text: string) => MemberValue | undefined } = {
  int64: parseInt64,
  int32: readInt32,
  number: readDecimal,
  boolean: readBoolean,
  string: (text) => text,
}

export type MemberType = keyof typeof IS_VALUE

export type MemberValue = bigint | number | boolean | string

/** A member of a plant. */
export interface Member {
  readonly name: string
  readonly type: MemberType
  readonly isRequired: boolean
  /** Whether plants can be sorted by it. */
  readonly isSortable?: true
  /** Only own fields have one. */
  readonly schema?: FieldSchema
}

function readInt32(text: string): number | undefined {
  const integer = Number(parseInt64(text))
  return integer === (integer | 0) ? integer : undefined
}

/** In any case, because spreadsheets write `TRUE`. */
function readBoolean(text: string): boolean | undefined {
  if (!/^(?:true|false)$/i.test(text)) return undefined
  return text.toLowerCase() === 'true'
}

export function isMemberType(type: unknown): type is MemberType {
  return Object.hasOwn(IS_VALUE, String(type))
}

/** Whether a value has the type of a member. */
export function isValueOf({ type }: Member, value: unknown): value is MemberValue {
  return IS_VALUE[type](value)
}

/** Reads a value from text. Returns undefined if the text is not one of the member's type. */
export function readText({ type }: Member, text: string): MemberValue | undefined {
  return READ[type](text)
}

/** A value as text, from which `readText` reads the same value. */
export function writeText(value: MemberValue): string {
  return String(value)
}

/** A value as JSON. JSON.stringify rejects bigints. */
export function writeJson(value: MemberValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** The value of an object's own member; undefined if it has none. */
export function ownValue(values: object, name: string): unknown {
  return Object.hasOwn(values, name) ? (values as { [name: string]: unknown })[name] : undefined
}
