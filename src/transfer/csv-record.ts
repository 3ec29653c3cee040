import { isUtf8 } from 'node:buffer'
import { COMMA, NEWLINE, QUOTE, RETURN, SEMICOLON, TAB } from '../../contract/bytes.ts'

/** Why a record could not be read completely. */
export type Problem = (typeof problems)[keyof typeof problems]

export const problems = {
  /** More bytes may follow. */
  unfinished: 'record is incomplete',
  /** The closing quote may follow in the next bytes. */
  quoteNotClosed: 'a quote is not closed',
  quoteNotDoubled: 'a quote within a field must be doubled',
  fieldNotQuoted: 'a field that contains a quote must be quoted',
} as const

/** The position of a field, excluding its quotes. */
export interface Field {
  /** Zero-based. */
  readonly index: number
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  readonly hasDoubledQuotes: boolean
}

/** Where the decimal mark is a comma, spreadsheets separate fields by semicolons. */
const SEPARATORS: readonly number[] = [COMMA, SEMICOLON, TAB]

/** The byte that separates the fields of a header: the first one outside quotes that can. */
export function findSeparator(bytes: Buffer, from: number): number {
  let isQuoted = false
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (SEPARATORS.includes(byte)) return byte
    else if (byte === NEWLINE) break
  }
  return COMMA
}

/**
 * Finds the fields of CSV records (RFC 4180, with any separator). Lines end with CRLF or LF. Scans the bytes once and
 * allocates nothing per field, because a record can have a million fields.
 */
export class CsvRecord {
  readonly #bytes: Buffer
  readonly #isLast: boolean
  readonly #field = { index: 0, start: 0, end: 0, isQuoted: false, hasDoubledQuotes: false }
  #start = 0
  #at = 0
  #highBits = 0
  #lines = 0
  #isBlank = true

  /** @param isLast whether the file ends with these bytes */
  constructor(bytes: Buffer, isLast: boolean) {
    this.#bytes = bytes
    this.#isLast = isLast
  }

  /** Number of fields in the record. */
  get width(): number {
    return this.#field.index + 1
  }

  /** Where the record ends, including its newline, or the position after the first invalid byte. */
  get end(): number {
    return this.#at
  }

  /** Number of newlines in the record. */
  get lines(): number {
    return this.#lines
  }

  /** Whether all fields are empty, without even quotes. */
  get isBlank(): boolean {
    return this.#isBlank
  }

  isUtf8(): boolean {
    return this.#highBits < 0x80 || isUtf8(this.#bytes.subarray(this.#start, this.#at))
  }

  /**
   * Reads the record at `start`.
   *
   * @param separator the byte that separates fields
   * @param onField called with each field; the object is reused for the next field
   */
  read(start: number, separator: number, onField: (field: Field) => void): Problem | undefined {
    const bytes = this.#bytes
    this.#start = start
    this.#at = start
    this.#highBits = 0
    this.#lines = 0
    this.#isBlank = true
    for (this.#field.index = 0; ; this.#field.index++) {
      const problem = bytes[this.#at] === QUOTE ? this.#readQuoted() : this.#readUnquoted(separator)
      if (problem !== undefined) return problem
      onField(this.#field)
      if (bytes[this.#at] !== separator) return this.#endLine()
      this.#at++
    }
  }

  #readUnquoted(separator: number): Problem | undefined {
    const bytes = this.#bytes
    const start = this.#at
    let at = start
    let highBits = this.#highBits
    for (; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (byte === separator || byte === NEWLINE) break
      if (byte === QUOTE) {
        this.#at = at + 1
        return problems.fieldNotQuoted
      }
      highBits |= byte
    }
    const crlf = bytes[at] === NEWLINE && at > start && bytes[at - 1] === RETURN
    this.#highBits = highBits
    this.#at = crlf ? at - 1 : at
    this.#setField(start, this.#at, false, false)
    return undefined
  }

  #readQuoted(): Problem | undefined {
    const bytes = this.#bytes
    const start = this.#at + 1
    let at = start
    let hasDoubledQuotes = false
    let highBits = this.#highBits
    for (; ; at++) {
      if (at === bytes.length) return problems.quoteNotClosed
      const byte = bytes[at] as number
      highBits |= byte
      if (byte === NEWLINE) this.#lines++
      if (byte !== QUOTE) continue
      if (bytes[at + 1] !== QUOTE) break
      hasDoubledQuotes = true
      at++
    }
    this.#highBits = highBits
    this.#at = at + 1
    this.#setField(start, at, true, hasDoubledQuotes)
    return undefined
  }

  #setField(start: number, end: number, isQuoted: boolean, hasDoubledQuotes: boolean): void {
    this.#field.start = start
    this.#field.end = end
    this.#field.isQuoted = isQuoted
    this.#field.hasDoubledQuotes = hasDoubledQuotes
    if (isQuoted || start < end) this.#isBlank = false
  }

  #endLine(): Problem | undefined {
    const bytes = this.#bytes
    const at = bytes[this.#at] === RETURN ? this.#at + 1 : this.#at
    if (at === bytes.length && !this.#isLast) return problems.unfinished
    if (this.#at === bytes.length) return undefined
    this.#at = at + 1
    if (bytes[at] !== NEWLINE) return problems.quoteNotDoubled
    this.#lines++
    return undefined
  }
}

/** Decodes a field and unescapes its doubled quotes. */
export function decodeField(bytes: Buffer, { start, end, hasDoubledQuotes }: Field): string {
  const text = bytes.toString('utf8', start, end)
  return hasDoubledQuotes ? text.replaceAll('""', '"') : text
}
