/** JSON (RFC 8259) in which integers are exact. */
import { isPreserved } from '../core/json/decimal.ts'
import { toInt64 } from '../core/json/int64.ts'
import { members } from '../core/members/members.gen.ts'

/** The names of the int64 members of a plant. */
const INT64 = new Set(members.filter(({ type }) => type === 'int64').map(({ name }) => name))

/** TypeScript does not declare this function yet. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }

/**
 * Like `JSON.stringify`, but a bigint becomes an integer. Other programs can round one beyond 2^53 when they read it.
 *
 * @example
 * toJson({ id: 4n, name: 'Abies alba Mill.' }) // {"id":4,"name":"Abies alba Mill."}
 *
 * @throws RangeError for NaN and infinities
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (name, member) => {
    if (typeof member === 'bigint') return rawJSON(String(member))
    // JSON.stringify would write null, which removes a field in a patch.
    if (typeof member === 'number' && !Number.isFinite(member)) {
      throw new RangeError(`${name} is ${member}, which JSON cannot represent`)
    }
    return member
  })
}

/**
 * Like `JSON.parse`, but no integer within int64 is rounded: an id is always a bigint, and any other integer is one if a
 * number would change it.
 *
 * @param int64Fields the names of own fields whose values are always bigints
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string, int64Fields: readonly string[] = []): unknown {
  const int64Names = new Set([...INT64, ...int64Fields])
  return JSON.parse(text, (name: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number') return value
    const source = String(context?.source)
    const isBigint = int64Names.has(name) || !isPreserved(source)
    return isBigint ? (toInt64(source) ?? value) : value
  })
}
