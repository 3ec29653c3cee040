import { BACKSLASH, COMMA, OPENING_BRACE, OPENING_BRACKET, QUOTE } from '../../contract/bytes.ts'

/**
 * Counts the items, members, arrays and objects of JSON that arrives in chunks. Parsing needs some 300 bytes for each, so
 * an answer of many must be refused before. The count of invalid JSON has no meaning.
 */
export class ValueCount {
  #count = 0
  #isInString = false
  #isEscaped = false

  /** Returns the count so far. */
  add(chunk: Uint8Array): number {
    const { length } = chunk
    for (let at = 0; at < length; at++) {
      const byte = chunk[at]
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === QUOTE) this.#isInString = !this.#isInString
      else if (this.#isInString) this.#isEscaped = byte === BACKSLASH
      else if (byte === COMMA || byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#count++
    }
    return this.#count
  }
}
