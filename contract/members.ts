import { parseInt64 } from './int64.ts'

/** How to recognize the values of each type, and how to read them from text, such as a cell or the field of a form. */
const TYPES = {
  int64: { isValue: (value: unknown) => typeof value === 'bigint', read: parseInt64 },
  string: { isValue: (value: unknown) => typeof value === 'string', read: (text: string) => text },
} as const

export type MemberType = keyof typeof TYPES

export type MemberValue = bigint | string

/** A member of a plant. */
export interface Member {
  readonly name: string
  readonly type: MemberType
  readonly isRequired: boolean
}

export function isMemberType(type: unknown): type is MemberType {
  return Object.hasOwn(TYPES, String(type))
}

/** Whether a value has the type of a member. */
export function isValueOf({ type }: Member, value: unknown): value is MemberValue {
  return TYPES[type].isValue(value)
}

/** Reads a value from text. Returns undefined if the text is not one of the member's type. */
export function readText({ type }: Member, text: string): MemberValue | undefined {
  return TYPES[type].read(text)
}

/** A value as text, from which `readText` reads the same value. */
export function writeText(value: MemberValue): string {
  return String(value)
}
