import { exactNumber } from './int64.ts'
import type { Shape } from './shape.ts'

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const UPPER_E = 0x45
const BACKSLASH = 0x5c
const LOWER_E = 0x65
const LOWER_U = 0x75

const HEX_DIGITS = setOf('0123456789ABCDEFabcdef')

/** Characters that may follow a backslash, except `u` with four hexadecimal digits. */
const ESCAPES = setOf('"\\/bfnrt')

/** The bytes are not JSON (RFC 8259), or are nested too deeply. */
export class InvalidJson extends Error {}

/** No byte. */
const NOTHING = -1

/** A shorter integer is exact as a double. */
const LONG = 16

/**
 * Scans the tokens of UTF-8 JSON. Each method expects its token at `at` and leaves `at` after it.
 *
 * @throws InvalidJson if the token is not the expected one
 */
export class JsonScanner {
  protected readonly bytes: Buffer
  protected at = 0
  readonly #what: string

  /** @param what the name of the input in error messages */
  constructor(bytes: Buffer, what: string) {
    this.bytes = bytes
    this.#what = what
  }

  /** NOTHING past the end. An actual out-of-bounds read would make V8 deoptimize all later reads. */
  protected byteAt(index: number): number {
    return index < this.bytes.length ? (this.bytes[index] as number) : NOTHING
  }

  protected string(shape: Shape): string | undefined {
    const start = this.at
    const escaped = this.endString()
    return shape === 'none' ? undefined : this.textFrom(start, escaped)
  }

  /** The string between the quote at `start` and the quote before `at`. */
  protected textFrom(start: number, escaped: boolean): string {
    return escaped
      ? JSON.parse(this.bytes.toString('utf8', start, this.at))
      : this.bytes.toString('utf8', start + 1, this.at - 1)
  }

  /** Skips a string; returns whether it contains an escape sequence. */
  protected endString(): boolean {
    const { bytes } = this
    const { length } = bytes
    let escaped = false
    let at = this.at + 1
    // After one out-of-bounds read, V8 would run this loop four times slower for good.
    while (at < length) {
      const byte = bytes[at] as number
      if (byte === QUOTE) {
        this.at = at + 1
        return escaped
      }
      if (byte < SPACE) break
      at++
      if (byte === BACKSLASH) {
        escaped = true
        at = this.#endEscape(at)
      }
    }
    this.at = at
    this.expected(at < length ? 'an escape sequence for the control character' : 'a closing quote')
  }

  /** @returns the end of the escape sequence whose backslash is before `at` */
  #endEscape(at: number): number {
    const unicode = this.byteAt(at) === LOWER_U
    const end = unicode ? at + 5 : at + 1
    let valid = unicode || ESCAPES.has(this.byteAt(at))
    for (let digit = at + 1; digit < end; digit++) valid &&= HEX_DIGITS.has(this.byteAt(digit))
    if (!valid) {
      this.at = at
      this.expected('an escape sequence')
    }
    return end
  }

  protected number(shape: Shape): number | bigint | undefined {
    const { bytes, at: start } = this
    const negative = this.byteAt(start) === MINUS
    const first = negative ? start + 1 : start
    let end = first + 1
    if (this.byteAt(first) !== ZERO)
      end = this.#endOfDigits(first, negative ? 'a digit' : 'a value')
    const wholeEnd = end
    if (this.byteAt(end) === POINT) end = this.#endOfDigits(end + 1, 'a digit')
    const exponent = this.byteAt(end)
    if (exponent === LOWER_E || exponent === UPPER_E) {
      const sign = this.byteAt(end + 1)
      const digits = sign === PLUS || sign === MINUS ? end + 2 : end + 1
      end = this.#endOfDigits(digits, 'a digit')
    }
    this.at = end
    if (shape === 'none') return undefined
    if (end !== wholeEnd || end - start >= LONG) {
      return exactNumber(bytes.toString('latin1', start, end))
    }
    let value = 0
    for (let at = first; at < end; at++) value = value * 10 + (bytes[at] as number) - ZERO
    return negative ? -value : value
  }

  /** @returns the end of the digits at `start`, of which there must be at least one */
  #endOfDigits(start: number, expected: string): number {
    const { bytes } = this
    const { length } = bytes
    let at = start
    for (; at < length; at++) {
      const byte = bytes[at] as number
      if (byte < ZERO || byte > NINE) break
    }
    if (at === start) {
      this.at = at
      this.expected(expected)
    }
    return at
  }

  protected literal<Value>(name: string, value: Value): Value {
    const { at } = this
    for (let index = 0; index < name.length; index++) {
      if (this.byteAt(at + index) !== name.charCodeAt(index)) this.expected('a value')
    }
    this.at = at + name.length
    return value
  }

  protected space(): void {
    this.at = endOfSpace(this.bytes, this.at)
  }

  protected refuse(problem: string): never {
    throw new InvalidJson(`${this.#what} ${problem}`)
  }

  protected expected(what: string): never {
    this.refuse(`is not JSON: expected ${what} at byte ${this.at}`)
  }
}

/** The end of any whitespace at `at`. */
export function endOfSpace(bytes: Buffer, at: number): number {
  const { length } = bytes
  let end = at
  for (; end < length; end++) {
    const byte = bytes[end] as number
    if (byte === SPACE) continue
    // The common case, in which the comparisons to the right are skipped.
    if (byte > SPACE || (byte !== NEWLINE && byte !== RETURN && byte !== TAB)) break
  }
  return end
}

function setOf(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters))
}
