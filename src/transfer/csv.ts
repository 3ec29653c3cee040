import type { StoredPlant } from '../../service/plant-store.ts'
import { ConfigError } from '../config/config.ts'
import { parseInt64 } from '../contract/int64.ts'
import { CsvRecord, type Field, problems, textOf } from './csv-record.ts'
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

const REQUIRED = ['id', 'name']
const COLUMNS = [...REQUIRED, 'tag']

export const csvHeader = `${COLUMNS.join()}\n`

/** Names of the known columns, by index. */
type Columns = ReadonlyMap<number, string>

/** The index and text of a field in a known column. */
type Value = readonly [index: number, text: string]

/**
 * CSV (RFC 4180) whose first record names the columns. A field without anything is no value, one that is
 * a pair of quotes is an empty text. A line without anything is no record.
 *
 * After a malformed record, such as one with a stray quote, the start of the next record is ambiguous. We resume
 * at the next line, so that an unclosed quote costs only one record.
 */
export class CsvReader implements RecordReader {
  readonly #check: Check
  readonly #limit: number
  #line = 1
  /** What is left of a line that was refused for its size means nothing. */
  #skipping = false
  #columns: Columns | undefined
  /** Number of fields in the header, and therefore in each record. */
  #width = 0

  /** @param limit how many bytes a record may have */
  constructor(check: Check, limit: number) {
    this.#check = check
    this.#limit = limit
  }

  read(bytes: Buffer, ended: boolean): Records {
    const entries: Entry[] = []
    let from = 0
    const accept = (end: number, lines: number, content: Content | undefined) => {
      if (content !== undefined && !this.#skipping) entries.push({ line: this.#line, content })
      this.#line += lines
      from = end
    }
    const skipLine = (reason: string) => {
      const end = endOfLine(bytes, from)
      const whole = endsLine(bytes, end)
      accept(end, whole ? 1 : 0, this.#refuse(reason))
      this.#skipping = !whole
    }
    if (this.#skipping) skipLine('')
    const record = new CsvRecord(bytes, ended)
    for (let count = 0; from < bytes.length && count < RECORD_BATCH_SIZE; count++) {
      const values: Value[] = []
      const problem = record.read(from, (field) => {
        const value = this.#valueOf(field, bytes)
        if (value !== undefined) values.push(value)
      })
      const unfinished = problem === problems.unfinished || problem === problems.quoteNotClosed
      const end = unfinished ? bytes.length : record.end
      if (end - from > this.#limit) skipLine(tooLarge(this.#limit))
      else if (unfinished && !ended) return { entries, length: from, more: false }
      else if (problem !== undefined) skipLine(problem)
      else accept(end, record.lines, this.#contentOf(record, values))
    }
    return { entries, length: from, more: from < bytes.length }
  }

  /** Decodes a field that is a known column name in the header, or belongs to a known column; else undefined. */
  #valueOf(field: Field, bytes: Buffer): Value | undefined {
    const { index, start, end, quoted } = field
    if (this.#columns === undefined) {
      const name = textOf(bytes, field)
      return COLUMNS.includes(name) ? [index, name] : undefined
    }
    return this.#columns.has(index) && (quoted || start < end)
      ? [index, textOf(bytes, field)]
      : undefined
  }

  /** What a record is; nothing if it is the header, or a line without anything. */
  #contentOf(record: CsvRecord, values: readonly Value[]): Content | undefined {
    if (!record.isUtf8()) return this.#refuse(NOT_UTF8)
    if (record.blank) return undefined
    if (this.#columns === undefined) {
      this.#columns = columnsOf(values, this.#line)
      this.#width = record.width
      return undefined
    }
    if (record.width !== this.#width) {
      return `record must have ${this.#width} fields, as the header has, not ${record.width}`
    }
    return this.#check(plantOf(values, this.#columns))
  }

  /** @throws ConfigError if it is the header: without it the rest means nothing */
  #refuse(reason: string): string {
    if (this.#columns === undefined) throw new ConfigError(`line ${this.#line}: ${reason}`)
    return reason
  }
}

function columnsOf(header: readonly Value[], line: number): Columns {
  for (const name of COLUMNS) {
    const count = header.filter(([, column]) => column === name).length
    if (count > 1) throw new ConfigError(`line ${line}: the header names the column ${name} twice`)
    if (count === 0 && REQUIRED.includes(name)) {
      throw new ConfigError(
        `line ${line}: the header must name the columns, id and name among them, as in ${csvHeader.trim()}`,
      )
    }
  }
  return new Map(header)
}

/** The fields by their names, as the contract has them. */
function plantOf(values: readonly Value[], columns: Columns): object {
  const plant: { [name: string]: unknown } = {}
  for (const [index, text] of values) {
    const name = columns.get(index) as string
    plant[name] = name === 'id' ? (parseInt64(text) ?? text) : text
  }
  return plant
}

/** A plant as a line, which the same number and text are read from again. */
export function csvLine({ id, name, tag }: StoredPlant): string {
  return `${id},${quoted(name)},${tag === undefined ? '' : quoted(tag)}\n`
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
