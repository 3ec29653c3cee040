import { COMMA } from '../../contract/bytes.ts'
import { parseInt64 } from '../../contract/int64.ts'
import type { StoredPlant } from '../../service/plant-store.ts'
import { ConfigError } from '../config/config.ts'
import { CsvRecord, decodeField, type Field, findSeparator, problems } from './csv-record.ts'
import {
  ENDS_WITHIN,
  endOfLine,
  endsLine,
  NOT_UTF8,
  type ParsedRecord,
  type ParsedResult,
  type ParseResult,
  READ_RECORDS_MAX,
  type ReaderOptions,
  type ReadResult,
  type RecordReader,
  tooLarge,
} from './record-reader.ts'
import type { RecordValidator } from './record-validator.ts'
import { describeUnknown, FIELDS, NAMES_MAX, quote } from './unknown-fields.ts'

const REQUIRED: readonly string[] = ['id', 'name']
const COLUMNS: readonly string[] = FIELDS

export const csvHeader = `${COLUMNS.join()}\n`

/** Names of the known columns, by index. */
type Columns = ReadonlyMap<number, string>

/** A field of a known column: its index and text. */
type Value = readonly [index: number, text: string]

const CUT_OFF = `${ENDS_WITHIN}; end it with a newline if it is complete`

/** The header has columns other than those of a plant, whose data would be lost. */
export class UnknownColumns extends ConfigError {}

/**
 * Reads CSV (RFC 4180) whose first record names the columns. It also determines the separator: a comma, semicolon or
 * tab. An empty field means no value; a pair of quotes means an empty string. Skips empty lines.
 *
 * After a malformed record, such as one with a stray quote, the start of the next record is ambiguous. Reading resumes
 * at the next line, so that an unclosed quote costs only one record.
 */
export class CsvReader implements RecordReader {
  readonly #validate: RecordValidator
  readonly #limitBytes: number
  readonly #ignoreColumns: boolean
  readonly #canBeCutOff: boolean
  #line = 1
  #separator = COMMA
  /** Whether the bytes are the rest of a line that was refused because of its size. */
  #isSkipping = false
  #columns: Columns | undefined
  /** The first unknown columns in the header. */
  #unknownColumns: string[] = []
  /** Number of fields in the header, and therefore in each record. */
  #width = 0

  /** @param limitBytes the largest record accepted */
  constructor(
    validate: RecordValidator,
    limitBytes: number,
    { ignoreColumns = false, canBeCutOff = false }: ReaderOptions = {},
  ) {
    this.#validate = validate
    this.#limitBytes = limitBytes
    this.#ignoreColumns = ignoreColumns
    this.#canBeCutOff = canBeCutOff
  }

  /** @throws ConfigError also if there is no header */
  read(bytes: Buffer, isLast: boolean): ReadResult {
    const records: ParsedRecord[] = []
    let from = 0
    const advance = (end: number, lines: number, record: ParsedResult | undefined) => {
      if (record !== undefined && !this.#isSkipping) {
        records.push({ number: this.#line, ...record })
      }
      this.#line += lines
      from = end
    }
    const skipLine = (reason: string) => {
      const end = endOfLine(bytes, from)
      const isComplete = endsLine(bytes, end)
      advance(end, isComplete ? 1 : 0, { result: this.#refuse(reason) })
      this.#isSkipping = !isComplete
    }
    if (this.#isSkipping) skipLine('')
    const record = new CsvRecord(bytes, isLast)
    for (let count = 0; from < bytes.length && count < READ_RECORDS_MAX; count++) {
      const values: Value[] = []
      this.#unknownColumns = []
      if (this.#columns === undefined) this.#separator = findSeparator(bytes, from)
      const problem = record.read(from, this.#separator, (field) => {
        const value = this.#readValue(field, bytes)
        if (value !== undefined) values.push(value)
      })
      const isIncomplete = problem === problems.unfinished || problem === problems.quoteNotClosed
      const end = isIncomplete ? bytes.length : record.end
      if (end - from > this.#limitBytes) skipLine(tooLarge(this.#limitBytes))
      else if (isIncomplete && !isLast) return { records, length: from, more: false }
      else if (problem !== undefined) skipLine(problem)
      else if (this.#canBeCutOff && !endsLine(bytes, end)) {
        advance(end, record.lines, { result: this.#refuse(CUT_OFF) })
      } else advance(end, record.lines, this.#parse(record, values))
    }
    if (isLast && from === bytes.length && this.#columns === undefined) {
      throw new ConfigError(`the file is empty: expected a header such as ${csvHeader.trim()}`)
    }
    return { records, length: from, more: from < bytes.length }
  }

  /** Decodes a column name or a value. Returns undefined if the column is unknown or the field has no value. */
  #readValue(field: Field, bytes: Buffer): Value | undefined {
    const { index, start, end, isQuoted } = field
    if (this.#columns === undefined) {
      const name = decodeField(bytes, field)
      if (COLUMNS.includes(name)) return [index, name]
      if (this.#unknownColumns.length < NAMES_MAX) this.#unknownColumns.push(name)
      return undefined
    }
    return this.#columns.has(index) && (isQuoted || start < end)
      ? [index, decodeField(bytes, field)]
      : undefined
  }

  /** Returns undefined for the header, for what precedes it, and for empty lines. */
  #parse(record: CsvRecord, values: readonly Value[]): ParsedResult | undefined {
    if (!record.isUtf8()) return { result: this.#refuse(NOT_UTF8) }
    if (record.isBlank) {
      return record.width === 1 || this.#columns === undefined ? undefined : { result: undefined }
    }
    if (this.#columns === undefined) {
      const unknown = this.#describeUnknown(record.width - values.length)
      this.#columns = mapColumns(values, unknown, this.#line)
      this.#width = record.width
      if (unknown !== undefined && !this.#ignoreColumns) {
        throw new UnknownColumns(
          `line ${this.#line}: the header has ${unknown}: expected only ${COLUMNS.join(', ')}`,
        )
      }
      return undefined
    }
    if (record.width !== this.#width) {
      return {
        result: `record must have ${this.#width} fields, like the header, not ${record.width}`,
      }
    }
    return { result: this.#parsePlant(values, this.#columns) }
  }

  #parsePlant(values: readonly Value[], columns: Columns): ParseResult {
    const plant: { [name: string]: unknown } = {}
    for (const [index, text] of values) {
      const name = columns.get(index) as string
      const value = name === 'id' ? parseInt64(text) : text
      if (value === undefined) return `id must be an int64, not ${quote(text)}`
      plant[name] = value
    }
    return this.#validate(plant)
  }

  /** Describes the unknown columns in the header, given their number. Returns undefined if there are none. */
  #describeUnknown(count: number): string | undefined {
    if (count === 0) return undefined
    const names = this.#unknownColumns.map(describeUnknown).join(', ')
    const more = count - this.#unknownColumns.length
    return `${count === 1 ? 'an unknown column' : `${count} unknown columns`}, ${names}${more > 0 ? ` and ${more} more` : ''}`
  }

  /** @throws ConfigError if the record is the header, because no record can be read without it */
  #refuse(reason: string): string {
    if (this.#columns === undefined) throw new ConfigError(`line ${this.#line}: ${reason}`)
    return reason
  }
}

function mapColumns(header: readonly Value[], unknown: string | undefined, line: number): Columns {
  for (const name of COLUMNS) {
    const count = header.filter(([, column]) => column === name).length
    if (count > 1) throw new ConfigError(`line ${line}: the header names the column ${name} twice`)
    if (count === 0 && REQUIRED.includes(name)) {
      throw new ConfigError(
        `line ${line}: the header must include the columns id and name, separated by a comma, semicolon or tab, as in ${csvHeader.trim()}${
          unknown === undefined ? '' : `; it has ${unknown}`
        }`,
      )
    }
  }
  return new Map(header)
}

/** Formats a plant as a line that `CsvReader` reads back exactly. */
export function csvLine({ id, name, tag }: StoredPlant): string {
  return `${id},${quoteIfNeeded(name)},${tag === undefined ? '' : quoteIfNeeded(tag)}\n`
}

function quoteIfNeeded(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
