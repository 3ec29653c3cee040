import { isUtf8 } from 'node:buffer'
import { type CsvError, type Info, type InfoField, Parser } from 'csv-parse'
import { NEWLINE } from '../../contract/bytes.ts'
import { parseInt64 } from '../../contract/int64.ts'
import { ConfigError } from '../config/config.ts'
import {
  ENDS_WITHIN,
  type ParsedRecord,
  type ParseResult,
  RECORD_BYTES_MAX,
  type ReadOptions,
  type RecordBatch,
  recordValidator,
  TOO_LARGE,
  withoutByteOrderMark,
} from './record.ts'
import { describeUnknown, FIELDS, isField, NAMES_MAX, quote } from './unknown-fields.ts'

const REQUIRED: readonly string[] = ['id', 'name']

const EXAMPLE = FIELDS.join()

/** As many as a spreadsheet has. The parser's limit on the size of a record does not count empty fields. */
const COLUMNS_MAX = 2 ** 14

/** How much of a file is searched for its separator. */
const START_BYTES_MAX = 2 ** 16

const NOT_UTF8 = 'record is not valid UTF-8'

const CUT_OFF = `${ENDS_WITHIN}; end it with a newline if it is complete`

/** The parser's errors about a file. */
const REASONS: { readonly [code: string]: string } = {
  CSV_INVALID_CLOSING_QUOTE: 'a quote within a field must be doubled',
  INVALID_OPENING_QUOTE: 'a field that contains a quote must be quoted',
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: `${TOO_LARGE}; perhaps a quote is not closed`,
}

/** The header has columns other than those of a plant, whose data would be lost. */
export class UnknownColumns extends ConfigError {}

/** Undefined if it is empty without quotes, null if it is not valid UTF-8. */
type Field = string | undefined | null

/** The known columns by the index of their field. The length is the number of fields in each record. */
type Columns = readonly (string | undefined)[]

type Outcome = Error | null | undefined

/**
 * Reads CSV (RFC 4180) whose first record names the columns. The first comma, semicolon or tab is the separator. An
 * empty field means no value; a pair of quotes means an empty string. Skips empty lines. Reading ends at a malformed
 * record, such as one with a stray quote, because the start of the next record is ambiguous.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  options: ReadOptions,
): AsyncGenerator<RecordBatch, void> {
  const source = joinStart(chunks)
  const start = (await source.next()).value as Buffer
  const reader = new CsvReader(findSeparator(start), options)
  yield* reader.read(start)
  for await (const chunk of source) yield* reader.read(chunk)
  yield* reader.end()
}

/** Joins the first chunks until there is a separator, and removes a byte order mark. Yields at least one chunk. */
async function* joinStart(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let start = Buffer.alloc(0)
  let isEnough = false
  for await (const chunk of chunks) {
    if (isEnough) {
      yield chunk
    } else {
      start = Buffer.concat([start, chunk])
      isEnough = start.length > START_BYTES_MAX || findSeparator(start) !== undefined
      if (isEnough) yield withoutByteOrderMark(start)
    }
  }
  if (!isEnough) yield withoutByteOrderMark(start)
}

/** Where the decimal mark is a comma, spreadsheets separate fields by semicolons. */
function findSeparator(start: Buffer): string | undefined {
  const unquoted = start.toString('latin1').replace(/"[^"]*("|$)/g, '')
  return /[,;\t]/.exec(unquoted)?.[0]
}

class CsvReader {
  readonly #parser: Parser
  readonly #options: ReadOptions
  readonly #validate = recordValidator()
  #records: ParsedRecord[] = []
  #columns: Columns | undefined
  /** Lines of the rows so far, without empty lines. */
  #lines = 0
  /** Line breaks in the quoted fields of the current row. */
  #lineBreaks = 0
  #endsWithNewline = false

  constructor(separator = ',', options: ReadOptions) {
    this.#options = options
    this.#parser = new Parser({
      delimiter: separator,
      record_delimiter: ['\r\n', '\n'],
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: RECORD_BYTES_MAX,
      // One character per byte, because the parser would replace bytes that are not UTF-8.
      encoding: 'latin1',
      cast: (text, info) => this.#readField(text, info),
      on_record: (fields: Field[], info) => this.#addRow(fields, info),
    })
    // The callbacks of `write` and `end` receive the errors too.
    this.#parser.on('error', () => {})
  }

  /** Reads the records that end within a chunk. */
  async *read(chunk: Buffer): AsyncGenerator<RecordBatch, void> {
    this.#endsWithNewline = chunk.at(-1) === NEWLINE
    yield* this.#take(await new Promise((resolve) => this.#parser.write(chunk, resolve)))
  }

  /** Reads a last record that does not end with a newline. */
  async *end(): AsyncGenerator<RecordBatch, void> {
    const error = await new Promise<Outcome>((resolve) => this.#parser.end(resolve))
    if (!error) this.#checkEnd()
    yield* this.#take(error)
  }

  *#take(error: Outcome): Generator<RecordBatch, void> {
    const failure = error && this.#describeFailure(error)
    yield { records: this.#records, position: this.#parser.info.bytes }
    if (failure) throw failure
    this.#records = []
  }

  /** Adds the malformed record to the others, and returns the error that ends reading. */
  #describeFailure(error: Error): Error {
    const reason = REASONS[(error as CsvError).code]
    if (reason === undefined) return error
    const number = this.#nextLine(this.#parser.info)
    if (this.#columns === undefined) return new ConfigError(`line ${number}: ${reason}`)
    this.#records.push({ number, result: reason })
    return new ConfigError(`reading ended at line ${number}: correct it and import the file again`)
  }

  #checkEnd(): void {
    if (this.#columns === undefined) {
      throw new ConfigError(`the file is empty: expected a header such as ${EXAMPLE}`)
    }
    if (this.#endsWithNewline || !this.#options.canBeCutOff) return
    const last = this.#records.pop()
    if (last === undefined) throw new ConfigError(`line ${this.#lines}: ${CUT_OFF}`)
    this.#records.push({ number: last.number, result: CUT_OFF })
  }

  #nextLine({ empty_lines }: Info): number {
    return this.#lines + empty_lines + 1
  }

  #readField(text: string, info: InfoField): Field {
    const { index, quoting } = info
    if (index === COLUMNS_MAX) {
      const line = this.#nextLine(info)
      throw new ConfigError(`line ${line}: a record must not have more than ${COLUMNS_MAX} fields`)
    }
    if (quoting) this.#lineBreaks += text.split('\n').length - 1
    else if (text === '') return undefined
    const bytes = Buffer.from(text, 'latin1')
    return isUtf8(bytes) ? bytes.toString() : null
  }

  #addRow(fields: readonly Field[], info: Info): undefined {
    const number = this.#nextLine(info)
    this.#lines += this.#lineBreaks + 1
    this.#lineBreaks = 0
    const isBlank = fields.every((field) => field === undefined)
    if (this.#columns !== undefined) {
      const result = isBlank ? undefined : this.#parsePlant(fields, this.#columns)
      this.#records.push({ number, result })
    } else if (!isBlank) {
      this.#columns = readHeader(fields, number, this.#options)
    }
  }

  #parsePlant(fields: readonly Field[], columns: Columns): ParseResult {
    if (fields.length !== columns.length) {
      return `record must have ${columns.length} fields, like the header, not ${fields.length}`
    }
    const plant: { [name: string]: unknown } = {}
    for (const [index, text] of fields.entries()) {
      if (text === null) return NOT_UTF8
      const name = columns[index]
      if (name === undefined || text === undefined) continue
      const value = name === 'id' ? parseInt64(text) : text
      if (value === undefined) return `id must be an int64, not ${quote(text)}`
      plant[name] = value
    }
    return this.#validate(plant)
  }
}

/** @throws ConfigError if a column is missing, repeated or, unless such columns are ignored, unknown */
function readHeader(
  fields: readonly Field[],
  line: number,
  { ignoreColumns }: ReadOptions,
): Columns {
  if (fields.includes(null)) throw new ConfigError(`line ${line}: ${NOT_UTF8}`)
  const names = fields.map((field) => field ?? '')
  const unknown = describeColumns(names.filter((name) => !isField(name)))
  for (const name of FIELDS) {
    const count = names.filter((each) => each === name).length
    if (count > 1) throw new ConfigError(`line ${line}: the header names the column ${name} twice`)
    if (count === 0 && REQUIRED.includes(name)) {
      const others = unknown && `; it has ${unknown}`
      throw new ConfigError(
        `line ${line}: the header must include the columns id and name, separated by a comma, semicolon or tab, as in ${EXAMPLE}${others}`,
      )
    }
  }
  if (unknown !== '' && !ignoreColumns) {
    throw new UnknownColumns(
      `line ${line}: the header has ${unknown}: expected only ${FIELDS.join(', ')}`,
    )
  }
  return names.map((name) => (isField(name) ? name : undefined))
}

/** Returns an empty string if there are no unknown columns. */
function describeColumns(unknown: readonly string[]): string {
  const { length } = unknown
  if (length === 0) return ''
  const names = unknown.slice(0, NAMES_MAX).map(describeUnknown).join(', ')
  const more = length > NAMES_MAX ? ` and ${length - NAMES_MAX} more` : ''
  return `${length === 1 ? 'an unknown column' : `${length} unknown columns`}, ${names}${more}`
}
