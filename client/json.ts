/** JSON (RFC 8259) in which ids are exact bigints. */
import { toInt64 } from '../contract/int64.ts'
import { members } from '../contract/members.gen.ts'

/** The names of the int64 members of a plant. */
const INT64 = new Set(members.filter(({ type }) => type === 'int64').map(({ name }) => name))

/** TypeScript does not declare this function yet. */
const { rawJSON }: { rawJSON(text: string): unknown } = Object(JSON)

/**
 * Like `JSON.stringify`, but a bigint becomes an integer. Other programs can round one beyond 2^53 when they read it.
 *
 * @example
 * toJson({ id: 4n, name: 'Abies alba Mill.' }) // {"id":4,"name":"Abies alba Mill."}
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  )
}

/**
 * Like `JSON.parse`, but an id within int64 becomes a bigint with exactly the digits in the text. Any other
 * number stays a number.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, reviveId)
}

function reviveId(name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || !INT64.has(name)) return value
  return toInt64(String(context?.source)) ?? value
}
