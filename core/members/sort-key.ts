/** What decides the place of a plant in a sorted list. The service and the page share this rule. */
import { toComparable } from './comparable.ts'
import type { Member, MemberValue } from './members.ts'
import { fold } from './words.ts'

/** Undoes that numbers below zero are written as greater than others. */
const SIGN = 1n << 63n

/**
 * How many characters of a string, or of a `date-time` in UTC, decide its place. In UTF-8, a key has at most eight times as many bytes, and an entry of
 * PostgreSQL's index at most 2.7 kB.
 */
export const SORTED_CHARACTERS = 100

/** The key of a value, in the order of its bytes: a string in UTF-8, or an unsigned integer of 64 bits, most significant byte first. */
export function sortKeyOf(member: Member, value: MemberValue): string | bigint {
  const comparable = toComparable(member, value)
  if (typeof comparable === 'string')
    return isText(member) ? textKey(comparable) : firstCharacters(comparable)
  if (typeof comparable === 'bigint') return BigInt.asUintN(64, comparable ^ SIGN)
  const view = new DataView(new ArrayBuffer(8))
  // The zero makes 0 of -0. The bits of a negative number grow with its amount.
  view.setFloat64(0, comparable + 0)
  const bits = view.getBigUint64(0)
  return comparable < 0 ? BigInt.asUintN(64, ~bits) : bits | SIGN
}

function isText({ type, schema }: Member): boolean {
  return type === 'string' && schema?.format !== 'date' && schema?.format !== 'date-time'
}

/** Case and diacritics decide only between strings that are otherwise equal. U+0000, which no string has, precedes all others. */
function textKey(text: string): string {
  const start = firstCharacters(text)
  return `${firstCharacters(fold(start))}\0${start}`
}

function firstCharacters(text: string): string {
  if (text.length <= SORTED_CHARACTERS) return text
  return Array.from(text.slice(0, 2 * SORTED_CHARACTERS))
    .slice(0, SORTED_CHARACTERS)
    .join('')
}
