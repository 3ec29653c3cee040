import { exactNumber } from './decimal.ts'
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

/** What may follow a backslash, other than `u` and four hexadecimal digits. */
const ESCAPES = setOf('"\\/bfnrt')

/** The bytes are not a JSON text (RFC 8259), or one that is nested deeper than we read. */
export class InvalidJson extends Error {}

/** An integer of fewer characters is exact as a double. */
const LONG = 16

/**
 * Passes over the tokens of a JSON text in UTF-8. Each method expects its token at `at`, and leaves `at` on the
 * byte that follows it.
 *
 * @throws InvalidJson where the token is not what it has to be
 */
export class JsonScanner {
  protected readonly bytes: Buffer
  protected at = 0
  readonly #what: string

  /** @param what names the text in the messages */
  constructor(bytes: Buffer, what: string) {
    this.bytes = bytes
    this.#what = what
  }

  protected string(shape: Shape): string | undefined {
    const start = this.at
    const escaped = this.endString()
    return shape === 'none' ? undefined : this.textFrom(start, escaped)
  }

  /** The string from a quote at `start` to the quote before `at`. */
  protected textFrom(start: number, escaped: boolean): string {
    return escaped
      ? JSON.parse(this.bytes.toString('utf8', start, this.at))
      : this.bytes.toString('utf8', start + 1, this.at - 1)
  }

  /** Passes over a string without reading it; tells whether there is an escape in it. */
  protected endString(): boolean {
    const bytes = this.bytes
    let escaped = false
    let at = this.at + 1
    // Once V8 has seen a loop read past the end, it stays four times as slow.
    while (at < bytes.length) {
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
    this.expected(at < bytes.length ? 'no control character' : 'a closing quote')
  }

  /** @returns where the escape ends whose backslash is before `at` */
  #endEscape(at: number): number {
    const bytes = this.bytes
    const unicode = bytes[at] === LOWER_U
    const end = unicode ? at + 5 : at + 1
    let valid = unicode || ESCAPES.has(bytes[at])
    for (let digit = at + 1; digit < end; digit++) valid &&= HEX_DIGITS.has(bytes[digit])
    if (!valid) {
      this.at = at
      this.expected('an escape sequence')
    }
    return end
  }

  protected number(shape: Shape): number | bigint | undefined {
    const bytes = this.bytes
    const start = this.at
    const negative = bytes[start] === MINUS
    if (negative) this.at++
    const first = this.at
    if (bytes[first] === ZERO) this.at++
    else this.#digits(negative ? 'a digit' : 'a value')
    let integer = true
    if (bytes[this.at] === POINT) {
      integer = false
      this.at++
      this.#digits('a digit')
    }
    const exponent = bytes[this.at]
    if (exponent === LOWER_E || exponent === UPPER_E) {
      integer = false
      this.at++
      const sign = bytes[this.at]
      if (sign === PLUS || sign === MINUS) this.at++
      this.#digits('a digit')
    }
    if (shape === 'none') return undefined
    if (!integer || this.at - start >= LONG) {
      return exactNumber(bytes.toString('latin1', start, this.at))
    }
    let value = 0
    for (let at = first; at < this.at; at++) value = value * 10 + (bytes[at] as number) - ZERO
    return negative ? -value : value
  }

  #digits(expected: string): void {
    const bytes = this.bytes
    const start = this.at
    let at = start
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (byte < ZERO || byte > NINE) break
    }
    if (at === start) this.expected(expected)
    this.at = at
  }

  protected literal<Value>(name: string, value: Value): Value {
    const { bytes, at } = this
    for (let index = 0; index < name.length; index++) {
      if (bytes[at + index] !== name.charCodeAt(index)) this.expected('a value')
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

/** Where the whitespace ends that begins at `at`, which may be none. */
export function endOfSpace(bytes: Buffer, at: number): number {
  let end = at
  for (; end < bytes.length; end++) {
    const byte = bytes[end] as number
    // Almost always the first comparison is enough.
    if (byte > SPACE) break
    if (byte !== SPACE && byte !== NEWLINE && byte !== RETURN && byte !== TAB) break
  }
  return end
}

/** The byte after the last one is `undefined`, which is in no set. */
function setOf(characters: string): ReadonlySet<number | undefined> {
  return new Set(Buffer.from(characters))
}
