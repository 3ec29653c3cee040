import { isUtf8 } from 'node:buffer'
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  LOWER_U,
  MINUS,
  NEWLINE,
  NINE,
  OPENING_BRACE,
  OPENING_BRACKET,
  PLUS,
  POINT,
  QUOTE,
  RETURN,
  SPACE,
  TAB,
  UPPER_E,
  ZERO,
} from './bytes.ts'
import { exactDecimal } from './decimal.ts'
import { exactNumber, SAFE_LENGTH } from './int64.ts'
import { type KnownMember, KnownMembers, type ParsedMember } from './known-members.ts'

/** Enough for any plant, and far less than the depth at which recursion overflows the stack. */
const DEPTH_MAX = 64

const HEX_DIGITS = toByteSet('0123456789ABCDEFabcdef')

/** Characters that can follow a backslash, except `u` with four hexadecimal digits. */
const ESCAPES = toByteSet('"\\/bfnrt')

/** Returned in place of a byte at the end of the input. */
const END_OF_INPUT = -1

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** The bytes are not UTF-8 or not JSON (RFC 8259), or are nested too deeply. */
export class InvalidJson extends Error {}

/**
 * Prepares a parser of the JSON of a plant, of a change, or of an array of them. It builds only what a validator needs.
 * In place of a plant, anything but an object becomes null. In place of a plant's member, an array or object becomes an
 * empty one, except for the expected content of a change, which is a plant. Of all unknown members, it builds only the first, as null, because one is enough to reject a body. If a
 * member is repeated, the last value wins, as with `JSON.parse`. Numbers keep their exact value: see `exactDecimal` for
 * members of the type `number`, and `exactNumber` for all others.
 *
 * The time is linear, and independent of the number of members that a plant can have. `JSON.parse` itself needs up to
 * 0.4 s per MB to build objects whose members have different names, and a reviver, which alone could read long integers
 * exactly, 1 s per MB of small numbers.
 *
 * @param members those of a plant
 * @returns a function that throws InvalidJson
 */
export function prepareParser(members: readonly ParsedMember[]): (bytes: Buffer) => unknown {
  const known = new KnownMembers(members)
  return (bytes) => {
    if (!isUtf8(bytes)) throw new InvalidJson('body is not valid UTF-8')
    return new PlantParser(bytes, known).parse()
  }
}

/** The end of the whitespace at `at`, if any. */
function endOfSpace(bytes: Buffer, at: number): number {
  const { length } = bytes
  let end = at
  for (; end < length; end++) {
    const byte = bytes[end] as number
    if (byte === SPACE) continue
    // The first comparison decides in the common case.
    if (byte > SPACE || (byte !== NEWLINE && byte !== RETURN && byte !== TAB)) break
  }
  return end
}

type Plant = { [name: string]: unknown }

/** Each method expects its part of the JSON at `#at` and leaves `#at` after it. */
class PlantParser {
  readonly #bytes: Buffer
  readonly #members: KnownMembers
  #at = 0
  #hasUnknownMember = false

  constructor(bytes: Buffer, members: KnownMembers) {
    this.#bytes = bytes
    this.#members = members
  }

  parse(): unknown {
    this.#skipSpace()
    const value = this.#build(0)
    this.#skipSpace()
    if (this.#at < this.#bytes.length) this.#failExpecting('the end of input')
    return value
  }

  #build(depth: number): unknown {
    const first = this.#byteAt(this.#at)
    if (first === OPENING_BRACE) {
      const plant: Plant = {}
      this.#object(depth + 1, plant)
      return plant
    }
    if (first === OPENING_BRACKET && depth === 0) {
      const items: unknown[] = []
      this.#array(depth + 1, items)
      return items
    }
    this.#skip(depth)
    return null
  }

  /** Skips a value of any kind. */
  #skip(depth: number): void {
    const first = this.#byteAt(this.#at)
    if (first === QUOTE) this.#string()
    else if (first === OPENING_BRACE) this.#object(depth + 1)
    else if (first === OPENING_BRACKET) this.#array(depth + 1)
    else if (first === LOWER_T) this.#literal('true')
    else if (first === LOWER_F) this.#literal('false')
    else if (first === LOWER_N) this.#literal('null')
    else this.#number()
  }

  /** The value that starts at `start` and was just skipped. */
  #value(start: number, isDecimal: boolean): unknown {
    const bytes = this.#bytes
    switch (bytes[start]) {
      case OPENING_BRACE:
        return {}
      case OPENING_BRACKET:
        return []
      case LOWER_T:
        return true
      case LOWER_F:
        return false
      case LOWER_N:
        return null
      case QUOTE:
        return this.#text(start)
      default:
        return this.#numberFrom(start, isDecimal)
    }
  }

  #numberFrom(start: number, isDecimal: boolean): ReturnType<typeof exactNumber> {
    const bytes = this.#bytes
    const end = this.#at
    let value = 0
    for (let at = start; at < end; at++) {
      const digit = (bytes[at] as number) - ZERO
      const isShort = digit >= 0 && digit <= 9 && end - start <= SAFE_LENGTH
      if (!isShort) {
        const text = bytes.toString('latin1', start, end)
        return isDecimal ? exactDecimal(text) : exactNumber(text)
      }
      value = value * 10 + digit
    }
    return value
  }

  /** The text of the string that starts at `start` and was just skipped. */
  #text(start: number): string {
    const text = this.#bytes.toString('utf8', start + 1, this.#at - 1)
    return text.includes('\\') ? JSON.parse(`"${text}"`) : text
  }

  /** @param plant receives the members of a plant */
  #object(depth: number, plant?: Plant): void {
    if (this.#enter(CLOSING_BRACE, depth)) return
    do {
      const start = this.#at
      if (this.#byteAt(start) !== QUOTE) this.#failExpecting('a member name in double quotes')
      const hasEscape = this.#string()
      const member = plant === undefined ? undefined : this.#member(start, hasEscape, plant)
      this.#skipSpace()
      if (this.#byteAt(this.#at) !== COLON) this.#failExpecting("':'")
      this.#at++
      this.#skipSpace()
      if (plant === undefined || member === undefined) this.#skip(depth)
      else plant[member.name] = this.#memberValue(member, depth)
    } while (this.#next(CLOSING_BRACE, "',' or '}'"))
  }

  #memberValue({ isDecimal, isPlant }: KnownMember, depth: number): unknown {
    const start = this.#at
    if (isPlant && this.#byteAt(start) === OPENING_BRACE) return this.#build(depth)
    this.#skip(depth)
    return this.#value(start, isDecimal)
  }

  /**
   * The plant's member whose name starts at `start` and was just skipped. If it is unknown, returns undefined and adds it
   * to the plant, unless another one was unknown.
   */
  #member(start: number, hasEscape: boolean, plant: Plant): KnownMember | undefined {
    const found = this.#members.find(this.#bytes, start + 1, this.#at - 1)
    if (found !== undefined || (!hasEscape && this.#hasUnknownMember)) return found
    const name = this.#text(start)
    const known = this.#members.get(name)
    if (known !== undefined) return known
    if (!this.#hasUnknownMember) {
      this.#hasUnknownMember = true
      // An assignment to `__proto__` would add nothing.
      Object.defineProperty(plant, name, { value: null, enumerable: true })
    }
    return undefined
  }

  /** @param items receives the items */
  #array(depth: number, items?: unknown[]): void {
    if (this.#enter(CLOSING_BRACKET, depth)) return
    do {
      if (items === undefined) this.#skip(depth)
      else items.push(this.#build(depth))
    } while (this.#next(CLOSING_BRACKET, "',' or ']'"))
  }

  /** Enters an array or object. If it is empty, leaves it again and returns true. */
  #enter(closing: number, depth: number): boolean {
    if (depth > DEPTH_MAX) this.#fail(`is nested deeper than ${DEPTH_MAX} levels`)
    this.#at++
    this.#skipSpace()
    if (this.#byteAt(this.#at) !== closing) return false
    this.#at++
    return true
  }

  /** Moves to the next member or item. If there is none, leaves the array or object and returns false. */
  #next(closing: number, expected: string): boolean {
    this.#skipSpace()
    const byte = this.#byteAt(this.#at)
    if (byte !== COMMA && byte !== closing) this.#failExpecting(expected)
    this.#at++
    if (byte === closing) return false
    this.#skipSpace()
    return true
  }

  /** Skips a string; returns whether it contains an escape sequence. */
  #string(): boolean {
    const bytes = this.#bytes
    const { length } = bytes
    let hasEscape = false
    let at = this.#at + 1
    // After one out-of-bounds read, V8 would run this loop four times slower from then on.
    while (at < length) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        this.#at = at + 1
        return hasEscape
      }
      if (byte < SPACE) break
      at++
      if (byte === BACKSLASH) {
        hasEscape = true
        at = this.#endOfEscape(at)
      }
    }
    this.#at = at
    this.#failExpecting(
      at < length ? 'an escape sequence for the control character' : 'a closing quote',
    )
  }

  /** The end of the escape sequence whose backslash is before `at`. */
  #endOfEscape(at: number): number {
    const unicode = this.#byteAt(at) === LOWER_U
    const end = unicode ? at + 5 : at + 1
    let valid = unicode || ESCAPES.has(this.#byteAt(at))
    for (let digit = at + 1; digit < end; digit++) valid &&= HEX_DIGITS.has(this.#byteAt(digit))
    if (!valid) {
      this.#at = at
      this.#failExpecting('an escape sequence')
    }
    return end
  }

  #number(): void {
    const negative = this.#byteAt(this.#at) === MINUS
    if (negative) this.#at++
    if (this.#byteAt(this.#at) === ZERO) this.#at++
    else this.#digits(negative ? 'a digit' : 'a value')
    if (this.#byteAt(this.#at) === POINT) {
      this.#at++
      this.#digits('a digit')
    }
    const exponent = this.#byteAt(this.#at)
    if (exponent !== LOWER_E && exponent !== UPPER_E) return
    this.#at++
    const sign = this.#byteAt(this.#at)
    if (sign === PLUS || sign === MINUS) this.#at++
    this.#digits('a digit')
  }

  /** Skips digits, of which there must be at least one. */
  #digits(expected: string): void {
    const bytes = this.#bytes
    const { length } = bytes
    const start = this.#at
    let at = start
    for (; at < length; at++) {
      const byte = bytes[at] as number
      if (byte < ZERO || byte > NINE) break
    }
    this.#at = at
    if (at === start) this.#failExpecting(expected)
  }

  #literal(name: string): void {
    const { length } = name
    for (let index = 0; index < length; index++) {
      if (this.#byteAt(this.#at + index) !== name.charCodeAt(index)) this.#failExpecting('a value')
    }
    this.#at += length
  }

  #skipSpace(): void {
    this.#at = endOfSpace(this.#bytes, this.#at)
  }

  /** An out-of-bounds read would make V8 deoptimize all later reads. */
  #byteAt(index: number): number {
    return index < this.#bytes.length ? (this.#bytes[index] as number) : END_OF_INPUT
  }

  #fail(problem: string): never {
    throw new InvalidJson(`body ${problem}`)
  }

  #failExpecting(what: string): never {
    // RFC 8259 §8.1 forbids it, and it is invisible.
    if (this.#at === 0 && this.#bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
      this.#fail('is not valid JSON: remove the byte order mark (EF BB BF) at its start')
    }
    this.#fail(`is not valid JSON: expected ${what} at byte ${this.#at}`)
  }
}

function toByteSet(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters))
}
