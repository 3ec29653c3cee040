import { isUtf8 } from 'node:buffer'
import type { StoredPlant } from '../../service/plant-store.ts'
import { JsonReader } from '../contract/json-reader.ts'
import { endOfSpace, type InvalidJson } from '../contract/json-scanner.ts'
import type { Check, Content, Entry } from './entry.ts'
import {
  endOfLine,
  endsLine,
  NOT_UTF8,
  RECORD_BATCH_SIZE,
  type RecordReader,
  type Records,
  tooLarge,
} from './record-reader.ts'

/** A JSON text a line, ended by a newline; a line without anything is no record. */
export class NdjsonReader implements RecordReader {
  readonly #check: Check
  readonly #limit: number
  #line = 1
  /** What is left of a line that was refused for its size means nothing. */
  #skipping = false

  /** @param limit how many bytes a record may have */
  constructor(check: Check, limit: number) {
    this.#check = check
    this.#limit = limit
  }

  read(bytes: Buffer, ended: boolean): Records {
    const entries: Entry[] = []
    let from = 0
    for (let count = 0; from < bytes.length && count < RECORD_BATCH_SIZE; count++) {
      const end = endOfLine(bytes, from)
      const whole = endsLine(bytes, end)
      const large = end - from > this.#limit
      if (!whole && !ended && !large) return { entries, length: from, more: false }
      const content = large
        ? tooLarge(this.#limit)
        : this.#contentOf(bytes.subarray(from, whole ? end - 1 : end))
      if (content !== undefined && !this.#skipping) entries.push({ line: this.#line, content })
      this.#skipping = !whole
      if (whole) this.#line += 1
      from = end
    }
    return { entries, length: from, more: from < bytes.length }
  }

  #contentOf(line: Buffer): Content | undefined {
    if (endOfSpace(line, 0) === line.length) return undefined
    if (!isUtf8(line)) return NOT_UTF8
    let value: unknown
    try {
      value = new JsonReader(line, 'record').read(this.#check.shape)
    } catch (error) {
      return (error as InvalidJson).message
    }
    return this.#check(value)
  }
}

/** A plant as a line, which the same number and text are read from again. */
export function ndjsonLine({ id, name, tag }: StoredPlant): string {
  const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`
  return `{"id":${id},"name":${JSON.stringify(name)}${rest}}\n`
}
