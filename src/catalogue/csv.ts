import type { StoredPlant } from '../../service/plant-store.ts'
import { ConfigError } from '../config.ts'
import { parseInt64 } from '../contract/decimal.ts'
import { type Fields, parseCsv, QUOTE_NOT_CLOSED } from './csv-fields.ts'
import type { Check, Content, Entry } from './entry.ts'
import {
  endOfLine,
  endOfLines,
  endsLine,
  linesIn,
  type RecordReader,
  type Records,
  tooLarge,
} from './record-reader.ts'

const REQUIRED = ['id', 'name']
const COLUMNS = [...REQUIRED, 'tag']

export const csvHeader = `${COLUMNS.join()}\n`

/**
 * CSV (RFC 4180) whose first record names the columns. A field without anything is no value, one that is
 * a pair of quotes is an empty text. A line without anything is no record.
 *
 * Behind a record that is malformed, such as one with a stray quote, nobody knows where the next one
 * begins. It is looked for on the very next line, so that a quote which is never closed costs one record.
 */
export class CsvReader implements RecordReader {
  readonly #check: Check
  readonly #limit: number
  #line = 1
  /** What is left of a line that was refused for its size means nothing. */
  #skipping = false
  #columns: Fields | undefined

  /** @param limit how many bytes a record may have */
  constructor(check: Check, limit: number) {
    this.#check = check
    this.#limit = limit
  }

  read(bytes: Buffer, ended: boolean): Records {
    const entries: Entry[] = []
    let from = 0
    const accept = (end: number, content: Content | undefined) => {
      if (content !== undefined && !this.#skipping) entries.push({ line: this.#line, content })
      this.#line += linesIn(bytes, from, end)
      from = end
    }
    const skipLine = (reason: string) => {
      const end = endOfLine(bytes, from)
      accept(end, this.#refuse(reason))
      this.#skipping = !endsLine(bytes, end)
    }
    if (this.#skipping) skipLine('')
    for (;;) {
      const lines = bytes.subarray(from, ended ? bytes.length : endOfLines(bytes))
      const start = from
      const problem = parseCsv(lines, (fields, end) => {
        if (start + end - from > this.#limit) return tooLarge(this.#limit)
        accept(start + end, this.#contentOf(fields))
        return undefined
      })
      const unfinished = problem === undefined || problem === QUOTE_NOT_CLOSED
      if (unfinished && bytes.length - from > this.#limit) skipLine(tooLarge(this.#limit))
      else if (problem === undefined || (unfinished && !ended)) return { entries, length: from }
      else skipLine(problem)
    }
  }

  /** What a record is; nothing if it is the header, or a line without anything. */
  #contentOf(fields: Fields | undefined): Content | undefined {
    if (fields === undefined) return this.#refuse('record is not UTF-8')
    if (fields.length === 1 && fields[0] === undefined) return undefined
    if (this.#columns === undefined) {
      this.#columns = columnsOf(fields, this.#line)
      return undefined
    }
    if (fields.length !== this.#columns.length) {
      return `record must have ${this.#columns.length} fields, as the header has, not ${fields.length}`
    }
    return this.#check(recordOf(this.#columns, fields))
  }

  /** @throws ConfigError if it is the header: without it the rest means nothing */
  #refuse(reason: string): string {
    if (this.#columns === undefined) throw new ConfigError(`line ${this.#line}: ${reason}`)
    return reason
  }
}

/** The names of the columns that we know, each at its place. */
function columnsOf(header: Fields, line: number): Fields {
  for (const name of COLUMNS) {
    const count = header.filter((field) => field === name).length
    if (count > 1) throw new ConfigError(`line ${line}: the header names the column ${name} twice`)
    if (count === 0 && REQUIRED.includes(name)) {
      throw new ConfigError(
        `line ${line}: the header must name the columns, id and name among them, as in ${csvHeader.trim()}`,
      )
    }
  }
  return header.map((name) => (COLUMNS.includes(name ?? '') ? name : undefined))
}

/** The fields by their names, as the contract has them. */
function recordOf(columns: Fields, fields: Fields): object {
  const record: { [name: string]: unknown } = {}
  for (const [index, name] of columns.entries()) {
    const text = fields[index]
    if (name === undefined || text === undefined) continue
    record[name] = name === 'id' ? (parseInt64(text) ?? text) : text
  }
  return record
}

/** A plant as a line, which the same number and text are read from again. */
export function csvLine({ id, name, tag }: StoredPlant): string {
  return `${id},${quoted(name)},${tag === undefined ? '' : quoted(tag)}\n`
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
