import {
  COLUMNS_MAX,
  type FileRecord,
  NOT_UTF8,
  RECORD_LENGTH_MAX,
  type RecordReader,
  TOO_LONG,
} from './file-record.ts'

/** A record that is longer is parsed again only when its text has doubled, so that parsing takes linear time. */
const SHORT_LENGTH = 2 ** 12

/** How a file of cells is written. */
export interface Dialect {
  /** Empty if every line is one field. */
  readonly separator: Separator
  /** Surrounds fields that contain separators or line breaks, as in RFC 4180. Empty if no character does. */
  readonly quote: Quote
  /** Excel for Mac can end lines with a carriage return alone. */
  readonly hasReturnsOnly?: boolean
  /** The line on which the first record starts. Those before it are skipped. */
  readonly firstLine?: number
}

/** A character that is neither a letter, a digit nor a quote. */
export type Separator = string

export type Quote = '"' | "'" | ''

/** Undefined if it is empty without quotes, which means no value. */
type Field = string | undefined

/** Why a record cannot be read. */
class Fault {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

const NOT_CLOSED = new Fault('a quote is not closed')
const NOT_DOUBLED = new Fault('a quote within a field in quotes must be doubled')
const TOO_WIDE = new Fault(`a row must not have more than ${COLUMNS_MAX} fields`)

/**
 * Reads CSV (RFC 4180) and its relatives. The first record that is not blank says how many fields the others have. Skips
 * empty lines. A record that cannot be read ends with its first line, so that it does not take others with it.
 *
 * Unlike Papa Parse, it distinguishes an empty field (no tag) from a pair of quotes (an empty tag). csv-parse does so
 * too, but its build for browsers takes four times as long, and seven times if records have different lengths.
 */
export class CsvReader implements RecordReader {
  readonly #dialect: Dialect
  /** Finds the end of a field without quotes. */
  readonly #special: RegExp
  /** What is not parsed yet, from the start of a record. */
  #text = ''
  /** The length that the text must have to be parsed. */
  #enough = 0
  #at = 0
  /** The line that the record starts on. */
  #line = 1
  /** Line breaks in the quoted fields of the record so far. */
  #lineBreaks = 0
  /** How many fields the first record has, with and without empty ones at the end. */
  #columns: { readonly max: number; readonly min: number } | undefined
  /** Whether the rest of a line is skipped, because it is too long. */
  #isSkipping = false
  #isLast = false

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    const { separator } = dialect
    this.#special = new RegExp(separator === '' ? '\n' : `[\\${separator}\n]`, 'g')
  }

  end(): Generator<FileRecord, void> {
    this.#isLast = true
    return this.read('')
  }

  *read(text: string): Generator<FileRecord, void> {
    this.#text += this.#dialect.hasReturnsOnly ? text.replaceAll('\r', '\n') : text
    if (this.#text.length < this.#enough && !this.#isLast) return
    if (this.#skipLines()) yield* this.#parseRecords()
    const { length } = this.#text
    this.#enough = length < SHORT_LENGTH ? 0 : Math.min(2 * length, RECORD_LENGTH_MAX + 1)
  }

  /** Whether the next record has been reached. */
  #skipLines(): boolean {
    const { firstLine = 1 } = this.#dialect
    let start = 0
    while (this.#line < firstLine || this.#isSkipping) {
      const end = this.#text.indexOf('\n', start)
      if (end === -1) {
        this.#text = ''
        return false
      }
      start = end + 1
      this.#isSkipping = false
      this.#line += 1
    }
    this.#text = this.#text.slice(start)
    return true
  }

  *#parseRecords(): Generator<FileRecord, void> {
    let start = 0
    while (start < this.#text.length) {
      this.#at = start
      this.#lineBreaks = 0
      const parsed = this.#parseRecord() ?? this.#findLimit(start, this.#text.length)
      if (parsed === undefined) break
      const fault =
        parsed instanceof Fault
          ? parsed
          : (this.#findLimit(start, this.#at - 1) ?? this.#findMerged(parsed, start))
      if (fault !== undefined) {
        const end = this.#text.indexOf('\n', start)
        // How much of the text is a bad line is not known yet.
        if (end === -1 && !this.#isLast && this.#text.length - start <= RECORD_LENGTH_MAX) break
        yield this.#toBadRecord(fault, start, end)
        if (end === -1) {
          this.#isSkipping = true
          start = this.#text.length
        } else {
          this.#line += 1
          start = end + 1
        }
        continue
      }
      const fields = parsed as readonly Field[]
      const isEmptyLine = fields.length === 1 && fields[0] === undefined
      if (!isEmptyLine) yield this.#toRecord(fields, start)
      this.#line += this.#lineBreaks + 1
      start = this.#at
    }
    this.#text = this.#text.slice(start)
  }

  #findLimit(start: number, end: number): Fault | undefined {
    if (end - start <= RECORD_LENGTH_MAX) return undefined
    return new Fault(`${TOO_LONG}; perhaps a quote is not closed`)
  }

  /**
   * Why a record of several lines is none: if each line has as many fields as the first record, a missing quote has merged
   * them. A record whose first field is one line in quotes is whole: see `csvRecord`.
   */
  #findMerged(fields: readonly Field[], start: number): Fault | undefined {
    const { separator, quote } = this.#dialect
    const columns = this.#columns?.max ?? fields.length
    if (this.#lineBreaks === 0 || columns === 1 || separator === '') return undefined
    if (this.#text.startsWith(quote, start) && !fields[0]?.includes('\n')) return undefined
    const lines = this.#text.slice(start, this.#at - 1).split('\n')
    if (lines.some((line) => line.split(separator).length !== columns)) return undefined
    const last = this.#line + this.#lineBreaks
    return new Fault(
      `a quote is not closed on this line: lines ${this.#line} to ${last} would be one row`,
    )
  }

  #toBadRecord({ reason }: Fault, start: number, end: number): FileRecord {
    const { separator } = this.#dialect
    const line = this.#text.slice(start, end === -1 ? start + SHORT_LENGTH : end).trimEnd()
    const fields =
      separator === '' ? [line] : line.split(separator, this.#columns?.max ?? COLUMNS_MAX)
    return { number: this.#line, values: { ...fields }, problem: reason, isMalformed: true }
  }

  #toRecord(fields: readonly Field[], start: number): FileRecord {
    const { length } = fields
    const isBlank = fields.every((field) => field === undefined)
    const used = fields.findLastIndex((field) => field !== undefined) + 1
    if (!isBlank) this.#columns ??= { max: length, min: used }
    const { max, min } = this.#columns ?? { max: length, min: 0 }
    const isComplete = this.#at <= this.#text.length
    const record: FileRecord = {
      number: this.#line,
      values: { ...(length > max && used <= max ? fields.slice(0, max) : fields) },
      ...(isBlank && { isBlank }),
      ...(!isComplete && { isUnterminated: true }),
    }
    if (!this.#text.slice(start, this.#at).isWellFormed()) return { ...record, problem: NOT_UTF8 }
    if (isBlank || (length >= min && used <= max)) return record
    const problem = `row has ${count(length, 'field')}, but the first row has ${max}`
    return { ...record, problem }
  }

  /** Moves after a record. Returns undefined if more text is needed. */
  #parseRecord(): readonly Field[] | Fault | undefined {
    const { separator } = this.#dialect
    const fields: Field[] = []
    for (;;) {
      if (fields.length === COLUMNS_MAX) return TOO_WIDE
      const end = this.#parseField(fields)
      if (typeof end !== 'number') return end
      const next = this.#text[end]
      this.#at = end + 1
      if (next === '\n' || next === undefined) return fields
      if (next !== separator) return NOT_DOUBLED
    }
  }

  /**
   * Adds a field, and returns the index of the separator or line break after it; undefined if more text is needed. Blanks
   * can be around quotes.
   */
  #parseField(fields: Field[]): number | Fault | undefined {
    const { quote, separator } = this.#dialect
    const text = this.#text
    if (quote === '') return this.#parseUnquoted(fields)
    if (text[this.#at] === quote) return this.#parseQuoted(fields, this.#at)
    if (text[this.#at] !== ' ') return this.#parseUnquoted(fields)
    let start = this.#at
    while (text[start] === ' ') start += 1
    if (start === text.length && !this.#isLast) return undefined
    if (text[start] !== quote) return this.#parseUnquoted(fields)
    const lineBreaks = this.#lineBreaks
    const end = this.#parseQuoted(fields, start)
    if (end === undefined) return undefined
    const next = typeof end === 'number' ? text[end] : quote
    const isQuoted = next === separator || next === '\n' || next === undefined
    if (isQuoted && this.#lineBreaks === lineBreaks) return end
    // The quote is part of the text, as in `the "big" one`.
    this.#lineBreaks = lineBreaks
    if (typeof end === 'number') fields.pop()
    return this.#parseUnquoted(fields)
  }

  #parseUnquoted(fields: Field[]): number | undefined {
    const text = this.#text
    this.#special.lastIndex = this.#at
    const end = this.#special.exec(text)?.index ?? text.length
    if (end === text.length && !this.#isLast) return undefined
    const hasReturn =
      text[end] !== this.#dialect.separator && end > this.#at && text[end - 1] === '\r'
    const field = text.slice(this.#at, hasReturn ? end - 1 : end)
    fields.push(field === '' ? undefined : field)
    return end
  }

  #parseQuoted(fields: Field[], from: number): number | Fault | undefined {
    const { quote } = this.#dialect
    const text = this.#text
    const start = from + 1
    let end = text.indexOf(quote, start)
    while (end !== -1 && text[end + 1] === quote) end = text.indexOf(quote, end + 2)
    if (end === -1 && this.#isLast) return NOT_CLOSED
    // The quote can be the first of a pair, and the character after it the first half of a line break.
    if (end === -1 || (end + 2 >= text.length && !this.#isLast)) return undefined
    const field = text.slice(start, end).replaceAll(quote + quote, quote)
    fields.push(field)
    this.#lineBreaks += field.split('\n').length - 1
    let next = end + 1
    while (text[next] === ' ') next += 1
    if (next === text.length && !this.#isLast) return undefined
    return text.startsWith('\r\n', next) || (text[next] === '\r' && next + 1 === text.length)
      ? next + 1
      : next
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
