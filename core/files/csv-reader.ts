import {
  type FileRecord,
  MalformedFile,
  NOT_UTF8,
  RECORD_LENGTH_MAX,
  type RecordReader,
  TOO_LONG,
} from './file-record.ts'

/** How much of a file is searched for its separator and its line breaks. */
const START_LENGTH = 2 ** 16

/** A record that is longer is parsed again only when its text has doubled, so that parsing takes linear time. */
const SHORT_LENGTH = 2 ** 12

/** As many as a spreadsheet has. */
const COLUMNS_MAX = 2 ** 14

/** Undefined if it is empty without quotes, which means no value. */
type Field = string | undefined

/** How a file is written. */
interface Dialect {
  readonly separator: string
  /** Finds the end of a field without quotes. */
  readonly special: RegExp
  /** Excel for Mac can end lines with a carriage return alone. */
  readonly hasReturnsOnly: boolean
}

/** Names the separator, for Excel. It must be the first line. */
const SEPARATOR_LINE = /^sep=([,;\t|])(?:\r\n|\r|\n)/i

export interface CsvOptions {
  /** Whether a field without quotes can contain a quote, as in `5" pot`. */
  readonly allowsQuotes?: boolean
}

/**
 * Reads CSV (RFC 4180). The separator is the one that a first line such as `sep=;` names, or the first comma, semicolon
 * or tab. The first record that is not blank names the columns, and is read like the others. Skips empty lines. Reading
 * ends at a misplaced quote.
 *
 * Unlike Papa Parse, it distinguishes an empty field (no tag) from a pair of quotes (an empty tag). csv-parse does so
 * too, but its build for browsers takes four times as long, and seven times if records have different lengths.
 */
export class CsvReader implements RecordReader {
  #dialect: Dialect | undefined
  /** What is not parsed yet, from the start of a record. */
  #text = ''
  /** The length that the text must have to be parsed. */
  #enough = 0
  #at = 0
  /** The line that the record starts on. */
  #line = 1
  /** Line breaks in the quoted fields of the record so far. */
  #lineBreaks = 0
  #columns: number | undefined
  #isLast = false
  readonly #allowsQuotes: boolean

  constructor({ allowsQuotes = false }: CsvOptions = {}) {
    this.#allowsQuotes = allowsQuotes
  }

  end(): Generator<FileRecord, void> {
    this.#isLast = true
    return this.read('')
  }

  *read(text: string): Generator<FileRecord, void> {
    this.#text += text
    if (this.#text.length < this.#enough && !this.#isLast) return
    this.#dialect ??= this.#detectDialect()
    if (this.#dialect !== undefined) yield* this.#parseRecords(this.#dialect)
    const { length } = this.#text
    if (length > RECORD_LENGTH_MAX) this.#fail(`${TOO_LONG}; perhaps a quote is not closed`)
    this.#enough = length < SHORT_LENGTH ? 0 : Math.min(2 * length, RECORD_LENGTH_MAX + 1)
  }

  #detectDialect(): Dialect | undefined {
    const [line, separator] = SEPARATOR_LINE.exec(this.#text) ?? ['']
    const rest = this.#text.slice(line.length)
    const dialect = detectDialect(rest, this.#isLast, this.#allowsQuotes, separator)
    if (dialect === undefined) return undefined
    if (line !== '') this.#line += 1
    this.#text = rest
    return dialect
  }

  *#parseRecords(dialect: Dialect): Generator<FileRecord, void> {
    if (dialect.hasReturnsOnly) this.#text = this.#text.replaceAll('\r', '\n')
    let start = 0
    while (start < this.#text.length) {
      this.#at = start
      this.#lineBreaks = 0
      const fields = this.#parseRecord(dialect)
      if (fields === undefined) break
      const isEmptyLine = fields.length === 1 && fields[0] === undefined
      if (!isEmptyLine) yield this.#toRecord(fields, start)
      this.#line += this.#lineBreaks + 1
      start = this.#at
    }
    this.#text = this.#text.slice(start)
  }

  #toRecord(fields: readonly Field[], start: number): FileRecord {
    const { length } = fields
    const isBlank = fields.every((field) => field === undefined)
    if (!isBlank) this.#columns ??= length
    const isComplete = this.#at <= this.#text.length
    const record: FileRecord = {
      number: this.#line,
      values: { ...fields },
      ...(isBlank && { isBlank }),
      ...(!isComplete && { isUnterminated: true }),
    }
    if (!this.#text.slice(start, this.#at).isWellFormed()) return { ...record, problem: NOT_UTF8 }
    if (isBlank || length === this.#columns) return record
    const problem = `row has ${count(length, 'field')}, but the first row has ${this.#columns}`
    return { ...record, problem }
  }

  /** Moves after a record. Returns undefined if more text is needed. */
  #parseRecord({ separator, special }: Dialect): readonly Field[] | undefined {
    const fields: Field[] = []
    for (;;) {
      if (fields.length === COLUMNS_MAX) {
        this.#fail(`a record must not have more than ${COLUMNS_MAX} fields`)
      }
      const isQuoted = this.#text[this.#at] === '"'
      const end = isQuoted ? this.#parseQuoted(fields) : this.#parseUnquoted(fields, special)
      if (end === undefined) return undefined
      const next = this.#text[end]
      this.#at = end + 1
      if (next === '\n' || next === undefined) return fields
      if (next !== separator) this.#fail('a quote within a field must be doubled')
    }
  }

  /** Adds a field, and returns the index of the separator or line break after it; undefined if more text is needed. */
  #parseUnquoted(fields: Field[], special: RegExp): number | undefined {
    const text = this.#text
    special.lastIndex = this.#at
    const end = special.exec(text)?.index ?? text.length
    if (end === text.length && !this.#isLast) return undefined
    if (text[end] === '"') this.#fail('a field that contains a quote must be quoted')
    const hasReturn = text[end] === '\n' && end > this.#at && text[end - 1] === '\r'
    const field = text.slice(this.#at, hasReturn ? end - 1 : end)
    fields.push(field === '' ? undefined : field)
    return end
  }

  #parseQuoted(fields: Field[]): number | undefined {
    const text = this.#text
    const start = this.#at + 1
    let end = text.indexOf('"', start)
    while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
    if (end === -1 && this.#isLast) this.#fail('a quote is not closed')
    // The quote can be the first of a pair, and the character after it the first half of a line break.
    if (end === -1 || (end + 2 >= text.length && !this.#isLast)) return undefined
    const field = text.slice(start, end).replaceAll('""', '"')
    fields.push(field)
    this.#lineBreaks += field.split('\n').length - 1
    return text.startsWith('\r\n', end + 1) ? end + 2 : end + 1
  }

  #fail(reason: string): never {
    throw new MalformedFile(this.#line, reason)
  }
}

/**
 * Where the decimal mark is a comma, spreadsheets separate fields by semicolons. Returns undefined if more text is
 * needed.
 */
function detectDialect(
  start: string,
  isWhole: boolean,
  allowsQuotes: boolean,
  named: string | undefined,
): Dialect | undefined {
  const unquoted = start.replace(/"[^"]*("|$)/g, '')
  const found = named ?? /[,;\t]/.exec(unquoted)?.[0]
  const hasNewline = unquoted.includes('\n')
  const isKnown = found !== undefined && hasNewline
  if (!isKnown && !isWhole && start.length < START_LENGTH) return undefined
  const separator = found ?? ','
  const hasReturnsOnly = !hasNewline && unquoted.includes('\r')
  const special = new RegExp(`[${separator}${allowsQuotes ? '' : '"'}\n]`, 'g')
  return { separator, special, hasReturnsOnly }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
