import { CLOSING_BRACE, CLOSING_BRACKET, OPENING_BRACKET } from '../../contract/bytes.ts'
import { endOfSpace } from '../../contract/exact-json.ts'
import type { StoredPlant } from '../../service/plant-store.ts'
import { parseJsonRecord } from './json-record.ts'
import {
  ENDS_WITHIN,
  endOfLine,
  endsLine,
  type ParsedRecord,
  type ParsedResult,
  READ_RECORDS_MAX,
  type ReaderOptions,
  type ReadResult,
  type RecordReader,
  tooLarge,
} from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'

/** The last byte of a line that was not cut off. */
const CLOSING: readonly number[] = [CLOSING_BRACE, CLOSING_BRACKET]

/** Follows the reason why the first line is invalid, if it starts like an array. */
const ARRAY_HINT = '; use --format json if the file is a JSON array'

/** Reads newline-delimited JSON (https://github.com/ndjson/ndjson-spec). Skips blank lines. */
export class NdjsonReader implements RecordReader {
  readonly #validate: RecordValidator
  readonly #limitBytes: number
  readonly #options: ReaderOptions
  #line = 1
  /** Whether the bytes are the rest of a line that was refused because of its size. */
  #isSkipping = false
  #isFirstRecord = true

  /** @param limitBytes the largest record accepted */
  constructor(validate: RecordValidator, limitBytes: number, options: ReaderOptions = {}) {
    this.#validate = validate
    this.#limitBytes = limitBytes
    this.#options = options
  }

  read(bytes: Buffer, isLast: boolean): ReadResult {
    const records: ParsedRecord[] = []
    let from = 0
    for (let count = 0; from < bytes.length && count < READ_RECORDS_MAX; count++) {
      const end = endOfLine(bytes, from)
      const isComplete = endsLine(bytes, end)
      const isTooLarge = end - from > this.#limitBytes
      if (!isComplete && !isLast && !isTooLarge) return { records, length: from, more: false }
      const parsed = isTooLarge
        ? { result: tooLarge(this.#limitBytes) }
        : this.#parse(bytes.subarray(from, isComplete ? end - 1 : end), isComplete)
      if (parsed !== undefined && !this.#isSkipping) {
        const hinted = this.#isFirstRecord ? addHint(bytes, from, parsed) : parsed
        records.push({ number: this.#line, ...hinted })
        this.#isFirstRecord = false
      }
      this.#isSkipping = !isComplete
      if (isComplete) this.#line += 1
      from = end
    }
    return { records, length: from, more: from < bytes.length }
  }

  #parse(line: Buffer, isComplete: boolean): ParsedResult | undefined {
    if (endOfSpace(line, 0) === line.length) return undefined
    const parsed = parseJsonRecord(line, this.#validate, this.#options)
    const isClosed = isComplete || CLOSING.includes(line.at(-1) as number)
    if (isClosed || typeof parsed.result !== 'string') return parsed
    return { result: `${parsed.result}; ${ENDS_WITHIN}` }
  }
}

/** Completes the error of a first line that starts like a JSON array. */
function addHint(bytes: Buffer, from: number, parsed: ParsedResult): ParsedResult {
  const startsArray = bytes[endOfSpace(bytes, from)] === OPENING_BRACKET
  return startsArray ? { result: `${parsed.result}${ARRAY_HINT}` } : parsed
}

/** Formats a plant as a line that `NdjsonReader` reads back exactly. */
export function ndjsonLine({ id, name, tag }: StoredPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}\n`
}
