/** JSON (RFC 8259) in which an id is a bigint, both ways and digit for digit. */
import { toInt64 } from '../src/contract/int64.ts'
import type { components } from './api.gen.ts'

type Plant = components['schemas']['StoredPlant']

/** The members of a plant that are an int64. Does not compile while the contract has others. */
const INT64: Record<Int64Member, true> = { id: true }

type Int64Member = {
  [Name in keyof Plant]-?: Plant[Name] extends bigint ? Name : never
}[keyof Plant]

/** What TypeScript does not know of yet. */
interface ExactJson {
  rawJSON(text: string): unknown
}

/** The JSON text for a value; a bigint becomes an integer. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? (JSON as unknown as ExactJson).rawJSON(String(member)) : member,
  )
}

/**
 * Reads a JSON text. An id is made from the digits in the text, and never goes through a double; one that
 * is no int64 stays a number.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function fromJson(text: string): unknown {
  return JSON.parse(text, exactId)
}

function exactId(name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || !Object.hasOwn(INT64, name)) return value
  return toInt64(String(context?.source)) ?? value
}
