/** JSON (RFC 8259) in which ids are exact bigints. */
import { exactDecimal } from '../contract/decimal.ts'
import { INEXACT, toInt64 } from '../contract/int64.ts'
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
 * @param int64Fields the names of own fields whose values also become bigints
 * @throws SyntaxError if the text is not JSON
 * @throws RangeError for a number that would be rounded
 */
export function parseJson(text: string, int64Fields: readonly string[] = []): unknown {
  const int64Names = new Set([...INT64, ...int64Fields])
  return JSON.parse(text, (name: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number') return value
    const source = String(context?.source)
    const integer = int64Names.has(name) ? toInt64(source) : undefined
    return integer ?? readNumber(name, source)
  })
}

/** @throws RangeError if the number would be rounded */
function readNumber(name: string, source: string): number {
  const number = exactDecimal(source)
  if (number !== INEXACT) return number
  throw new RangeError(
    `the value of "${name}" would be rounded; if it is an int64, add the field to int64Fields: ${source}`,
  )
}
