import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from '../../contract/bytes.ts'
import { endOfSpace } from '../../contract/exact-json.ts'
import { ConfigError } from '../config/config.ts'
import { parseJsonRecord } from './json-record.ts'
import {
  type ParsedRecord,
  READ_RECORDS_MAX,
  type ReaderOptions,
  type ReadResult,
  type RecordReader,
  tooLarge,
} from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'

/**
 * Reads a JSON array, such as a response to `GET /plants`. Items are separated by counting brackets, so an invalid
 * item costs only itself. A file that is not an array, or ends within one, is an error, which is thrown after the items
 * before it have been read.
 */
export class JsonArrayReader implements RecordReader {
  readonly #validate: RecordValidator
  readonly #limitBytes: number
  readonly #options: ReaderOptions
  #state: 'before' | 'within' | 'after' = 'before'
  /** Number of items before the current one. */
  #count = 0
  /** How much of the current item has been scanned, so that no byte is scanned twice. */
  #scanned = 0
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** Whether the bytes are the rest of an item that was refused because of its size. */
  #isSkipping = false
  /** Thrown by the next call, because the current one returns the items before it. */
  #error: unknown

  /** @param limitBytes the largest item accepted */
  constructor(validate: RecordValidator, limitBytes: number, options: ReaderOptions = {}) {
    this.#validate = validate
    this.#limitBytes = limitBytes
    this.#options = options
  }

  read(bytes: Buffer, isLast: boolean): ReadResult {
    if (this.#error !== undefined) throw this.#error
    const records: ParsedRecord[] = []
    try {
      return this.#read(bytes, isLast, records)
    } catch (error) {
      if (records.length === 0) throw error
      this.#error = error
      return { records, length: 0, more: true }
    }
  }

  /** @param records receives the items, including those before an error */
  #read(bytes: Buffer, isLast: boolean, records: ParsedRecord[]): ReadResult {
    let from = 0
    while (records.length < READ_RECORDS_MAX) {
      if (!this.#isWithin) from = this.#skipOutside(bytes, from)
      if (!this.#isWithin) break
      const end = this.#findEnd(bytes, from)
      const isTooLarge = end - from > this.#limitBytes
      if (isTooLarge && !this.#isSkipping) {
        records.push({ number: this.#count + 1, result: tooLarge(this.#limitBytes) })
        this.#isSkipping = true
      }
      if (end === bytes.length) {
        if (isLast) this.#assertClosed()
        if (!this.#isSkipping) return { records, length: from, more: false }
        this.#scanned = 0
        return { records, length: end, more: false }
      }
      this.#endItem(bytes, from, end, records)
      from = end + 1
    }
    if (isLast && from === bytes.length) this.#assertClosed()
    return { records, length: from, more: from < bytes.length }
  }

  get #isWithin(): boolean {
    return this.#state === 'within'
  }

  /** Skips what surrounds the array, and returns where its first item starts or the bytes end. */
  #skipOutside(bytes: Buffer, from: number): number {
    const at = endOfSpace(bytes, from)
    if (at === bytes.length) return at
    if (this.#state === 'after') {
      throw new ConfigError('the JSON array must not be followed by anything else')
    }
    if (bytes[at] !== OPENING_BRACKET) {
      throw new ConfigError(
        'the file must contain a JSON array; use --format ndjson if it has one object per line',
      )
    }
    this.#state = 'within'
    return at + 1
  }

  /** Returns the position of the comma or bracket that ends the item, or the end of the bytes. */
  #findEnd(bytes: Buffer, from: number): number {
    for (let at = from + this.#scanned; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (this.#isInString) this.#scanStringByte(byte)
      else if (byte === QUOTE) this.#isInString = true
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#depth++
      else if (this.#depth === 0 && (byte === COMMA || byte === CLOSING_BRACKET)) return at
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
        this.#depth = Math.max(0, this.#depth - 1)
      }
    }
    this.#scanned = bytes.length - from
    return bytes.length
  }

  #scanStringByte(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInString = false
  }

  #endItem(bytes: Buffer, from: number, end: number, records: ParsedRecord[]): void {
    const isClosing = bytes[end] === CLOSING_BRACKET
    const item = bytes.subarray(from, end)
    const isEmptyArray = isClosing && this.#count === 0 && endOfSpace(item, 0) === item.length
    if (!this.#isSkipping && !isEmptyArray) {
      const record = parseJsonRecord(item, this.#validate, this.#options)
      records.push({ number: this.#count + 1, ...record })
    }
    this.#count += 1
    this.#scanned = 0
    this.#depth = 0
    this.#isSkipping = false
    if (isClosing) this.#state = 'after'
  }

  #assertClosed(): void {
    if (this.#state === 'before') throw new ConfigError('the file contains no JSON array')
    if (this.#isWithin) {
      throw new ConfigError(`the JSON array is not closed after item ${this.#count}`)
    }
  }
}
