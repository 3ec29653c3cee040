import {
  BACKSLASH,
  LOWER_E,
  LOWER_U,
  MINUS,
  NEWLINE,
  NINE,
  PLUS,
  POINT,
  QUOTE,
  RETURN,
  SPACE,
  TAB,
  UPPER_E,
  ZERO,
} from './bytes.ts'
import { exactNumber, type INEXACT, SAFE_LENGTH } from './int64.ts'
import type { Projection } from './projection.ts'

const HEX_DIGITS = toByteSet('0123456789ABCDEFabcdef')

/** Characters that can follow a backslash, except `u` with four hexadecimal digits. */
const ESCAPES = toByteSet('"\\/bfnrt')

/** The bytes are not UTF-8 or not JSON (RFC 8259), or are nested too deeply. */
export class InvalidJson extends Error {}

/** Returned in place of a byte at the end of the input. */
const END_OF_INPUT = -1

/**
 * Scans the tokens of UTF-8 JSON. Each method expects its token at `at` and leaves `at` after it.
 *
 * @throws InvalidJson if it finds anything else
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

  /** An out-of-bounds read would make V8 deoptimize all later reads. */
  protected byteAt(index: number): number {
    return index < this.bytes.length ? (this.bytes[index] as number) : END_OF_INPUT
  }

  protected string(projection: Projection): string | undefined {
    const start = this.at
    const escaped = this.skipString()
    return projection === 'none' ? undefined : this.stringFrom(start, escaped)
  }

  /** The string from the quote at `start` to the quote before `at`. */
  protected stringFrom(start: number, escaped: boolean): string {
    return escaped
      ? (JSON.parse(this.bytes.toString('utf8', start, this.at)) as string)
      : this.bytes.toString('utf8', start + 1, this.at - 1)
  }

  /** Skips a string; returns whether it contains an escape sequence. */
  protected skipString(): boolean {
    const { bytes } = this
    const { length } = bytes
    let escaped = false
    let at = this.at + 1
    // After one out-of-bounds read, V8 would run this loop four times slower from then on.
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
        at = this.#endOfEscape(at)
      }
    }
    this.at = at
    this.failExpecting(
      at < length ? 'an escape sequence for the control character' : 'a closing quote',
    )
  }

  /** The end of the escape sequence whose backslash is before `at`. */
  #endOfEscape(at: number): number {
    const unicode = this.byteAt(at) === LOWER_U
    const end = unicode ? at + 5 : at + 1
    let valid = unicode || ESCAPES.has(this.byteAt(at))
    for (let digit = at + 1; digit < end; digit++) valid &&= HEX_DIGITS.has(this.byteAt(digit))
    if (!valid) {
      this.at = at
      this.failExpecting('an escape sequence')
    }
    return end
  }

  protected number(projection: Projection): number | bigint | typeof INEXACT | undefined {
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
    if (projection === 'none') return undefined
    if (end !== wholeEnd || end - start > SAFE_LENGTH) {
      return exactNumber(bytes.toString('latin1', start, end))
    }
    let value = 0
    for (let at = first; at < end; at++) value = value * 10 + (bytes[at] as number) - ZERO
    return negative ? -value : value
  }

  /** The end of the digits at `start`, of which there must be at least one. */
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
      this.failExpecting(expected)
    }
    return at
  }

  protected literal<Value>(name: string, value: Value): Value {
    const { at } = this
    for (let index = 0; index < name.length; index++) {
      if (this.byteAt(at + index) !== name.charCodeAt(index)) this.failExpecting('a value')
    }
    this.at = at + name.length
    return value
  }

  protected skipSpace(): void {
    this.at = endOfSpace(this.bytes, this.at)
  }

  protected fail(problem: string): never {
    throw new InvalidJson(`${this.#what} ${problem}`)
  }

  protected failExpecting(what: string): never {
    this.fail(`is not valid JSON: expected ${what} at byte ${this.at}`)
  }
}

/** The end of the whitespace at `at`, if any. */
export function endOfSpace(bytes: Buffer, at: number): number {
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

function toByteSet(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters))
}
