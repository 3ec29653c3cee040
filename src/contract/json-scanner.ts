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

/** No byte. */
const NOTHING = -1

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

  /** Nothing after the last one. A read past the end, seen once, would slow down all that follow. */
  protected byteAt(index: number): number {
    return index < this.bytes.length ? (this.bytes[index] as number) : NOTHING
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
    const { bytes } = this
    const { length } = bytes
    let escaped = false
    let at = this.at + 1
    // A loop that V8 has ever seen read past the end stays four times as slow.
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
    this.expected(at < length ? 'no control character' : 'a closing quote')
  }

  /** @returns where the escape ends whose backslash is before `at` */
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

  /** @returns where the digits end of which there has to be one at `start` */
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

/** Where the whitespace ends that begins at `at`, which may be none. */
export function endOfSpace(bytes: Buffer, at: number): number {
  const { length } = bytes
  let end = at
  for (; end < length; end++) {
    const byte = bytes[end] as number
    if (byte === SPACE) continue
    // Almost always true, and then there is nothing more to compare.
    if (byte > SPACE || (byte !== NEWLINE && byte !== RETURN && byte !== TAB)) break
  }
  return end
}

function setOf(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters))
}
