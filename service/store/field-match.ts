import { toInt64 } from '../../core/json/int64.ts'
import { isComparable } from '../../core/members/comparable.ts'
import type { Member, MemberValue } from '../../core/members/members.ts'
import { toValueTest } from '../../core/members/value-condition.ts'
import type { FieldCondition } from './plant-filter.ts'

/** Whether own fields, as they are stored, meet some conditions. Null and undefined are no fields. */
export type FieldMatch = (fields: string | null | undefined) => boolean

/** Whether the value of one field, as JSON, meets a condition. Undefined is no value. */
type ValueMatch = (json: string | undefined) => boolean

/**
 * Prepares to test whether own fields meet conditions, in time linear in the size of the text.
 *
 * A stored value that the field cannot have counts as none: one of another type, or text that does not look like a date
 * although the field is one. Text that is not in canonical form never throws, but can have fields that are not found.
 */
export function toFieldMatch(conditions: readonly FieldCondition[]): FieldMatch {
  const matches = new Map(
    conditions.map((condition) => [JSON.stringify(condition.field.name), toValueMatch(condition)]),
  )
  // Decides for most plants without a value.
  const required = conditions.find(({ isAbsent }) => !isAbsent)
  const start = required === undefined ? '' : `${JSON.stringify(required.field.name)}:`
  return (fields) => {
    const text = fields ?? ''
    if (!text.includes(start)) return false
    const values = readValues(text, matches)
    for (const [name, isMatch] of matches) if (!isMatch(values.get(name))) return false
    return true
  }
}

function toValueMatch(condition: FieldCondition): ValueMatch {
  const { field } = condition
  const isMatch = toValueTest(field, condition)
  return (json) => isMatch(json === undefined ? undefined : readValue(field, json))
}

/** The value of a field among own fields, as they are stored. Undefined if it has none that the field can have. */
export function fieldValue(
  field: Member,
  fields: string | null | undefined,
): MemberValue | undefined {
  const name = JSON.stringify(field.name)
  const text = fields ?? ''
  if (!text.includes(`${name}:`)) return undefined
  const json = readValues(text, new Map([[name, field]])).get(name)
  const value = json === undefined ? undefined : readValue(field, json)
  return isComparable(field, value) ? value : undefined
}

/** A value of the API. Undefined if the text is not the JSON of one. */
function readValue({ type }: Member, json: string): unknown {
  try {
    const value: unknown = JSON.parse(json)
    return type === 'int64' && typeof value === 'number' ? toInt64(json) : value
  } catch {
    return undefined
  }
}

/**
 * The JSON of some values, by the JSON of their names. Faster than parsing all of them, and exact: a reviver gets wrong
 * names in some versions of V8.
 */
function readValues(text: string, names: ReadonlyMap<string, unknown>): Map<string, string> {
  const values = new Map<string, string>()
  for (let at = 0; at < text.length && values.size < names.size; ) {
    const colon = endOfString(text, at)
    const name = text.slice(at, colon)
    const start = colon + 1
    const end = text[start] === '"' ? endOfString(text, start) : indexOf(text, ',', start)
    if (names.has(name)) values.set(name, text.slice(start, end))
    at = end + 1
  }
  return values
}

/** The end of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  let quote = indexOf(text, '"', start + 1)
  while (quote < text.length && isEscaped(text, quote)) quote = indexOf(text, '"', quote + 1)
  return quote + 1
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before--
  return (at - before) % 2 === 0
}

/** Like `String.prototype.indexOf`, but what is missing is at the end. */
function indexOf(text: string, character: string, from: number): number {
  const found = text.indexOf(character, from)
  return found === -1 ? text.length : found
}
