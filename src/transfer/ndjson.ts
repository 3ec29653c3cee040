import { isUtf8 } from 'node:buffer'
import type { StoredPlant } from '../../service/plant-store.ts'
import { JsonParser } from '../contract/json-parser.ts'
import { endOfSpace, type InvalidJson } from '../contract/json-scanner.ts'
import {
  endOfLine,
  endsLine,
  NOT_UTF8,
  type ParsedRecord,
  type ParseResult,
  READ_RECORDS_MAX,
  type ReadResult,
  type RecordReader,
  tooLarge,
} from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'

/** Reads newline-delimited JSON (https://github.com/ndjson/ndjson-spec). Skips blank lines. */
export class NdjsonReader implements RecordReader {
  readonly #validate: RecordValidator
  readonly #limitBytes: number
  #line = 1
  /** Whether the bytes are the rest of a line that was refused because of its size. */
  #isSkipping = false

  /** @param limitBytes the largest record accepted */
  constructor(validate: RecordValidator, limitBytes: number) {
    this.#validate = validate
    this.#limitBytes = limitBytes
  }

  read(bytes: Buffer, isLast: boolean): ReadResult {
    const records: ParsedRecord[] = []
    let from = 0
    for (let count = 0; from < bytes.length && count < READ_RECORDS_MAX; count++) {
      const end = endOfLine(bytes, from)
      const isComplete = endsLine(bytes, end)
      const isTooLarge = end - from > this.#limitBytes
      if (!isComplete && !isLast && !isTooLarge) return { records, length: from, more: false }
      const result = isTooLarge
        ? tooLarge(this.#limitBytes)
        : this.#parse(bytes.subarray(from, isComplete ? end - 1 : end))
      if (result !== undefined && !this.#isSkipping) records.push({ line: this.#line, result })
      this.#isSkipping = !isComplete
      if (isComplete) this.#line += 1
      from = end
    }
    return { records, length: from, more: from < bytes.length }
  }

  #parse(line: Buffer): ParseResult | undefined {
    if (endOfSpace(line, 0) === line.length) return undefined
    if (!isUtf8(line)) return NOT_UTF8
    let value: unknown
    try {
      value = new JsonParser(line, 'record').parse(this.#validate.projection)
    } catch (error) {
      return (error as InvalidJson).message
    }
    return this.#validate(value)
  }
}

/** Formats a plant as a line that `NdjsonReader` reads back exactly. */
export function ndjsonLine({ id, name, tag }: StoredPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}\n`
}
