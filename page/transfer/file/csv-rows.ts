import { FileProblem, RECORD_LENGTH_MAX, type Row } from './rows.ts'

/** How much of a file is searched for its separator and its line breaks. */
const START_LENGTH = 2 ** 16

/** As many as a spreadsheet has. */
const COLUMNS_MAX = 2 ** 14

/** Undefined if it is empty without quotes, which means no value. */
type Field = string | undefined

/** How a file is written. */
interface Format {
  readonly separator: string
  /** Finds the end of a field without quotes. */
  readonly special: RegExp
  /** Excel for Mac can end lines with a carriage return alone. */
  readonly hasReturnsOnly: boolean
}

/**
 * Reads CSV (RFC 4180) as the command line's import does. The first comma, semicolon or tab is the separator. The first
 * row names the columns, and is yielded like the others. Skips empty lines and rows without any value.
 *
 * @throws FileProblem after the rows before a misplaced quote, because the start of the next row is ambiguous
 */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<Row, void> {
  const parser = new CsvParser()
  for await (const chunk of chunks) yield* parser.parse(chunk)
  yield* parser.end()
}

/** Unlike Papa Parse, it distinguishes an empty field (no tag) from a pair of quotes (an empty tag). */
class CsvParser {
  #format: Format | undefined
  /** What is not parsed yet, from the start of a row. */
  #text = ''
  #at = 0
  /** The line that the row starts on. */
  #line = 1
  /** Line breaks in the quoted fields of the row so far. */
  #lineBreaks = 0
  #columns: number | undefined
  #isLast = false

  /** Yields a last row that does not end with a line break. */
  end(): Generator<Row, void> {
    this.#isLast = true
    return this.parse('')
  }

  /** Yields the rows that end within a chunk. */
  *parse(chunk: string): Generator<Row, void> {
    this.#text += chunk
    if (this.#format === undefined && this.#text.length < START_LENGTH && !this.#isLast) return
    this.#format ??= detectFormat(this.#text)
    if (this.#format.hasReturnsOnly) this.#text = this.#text.replaceAll('\r', '\n')
    let start = 0
    while (start < this.#text.length) {
      this.#at = start
      this.#lineBreaks = 0
      const fields = this.#parseRow(this.#format)
      if (fields === undefined) break
      if (fields.some((field) => field !== undefined)) yield this.#toRow(fields)
      this.#line += this.#lineBreaks + 1
      start = this.#at
    }
    this.#text = this.#text.slice(start)
    if (this.#text.length > RECORD_LENGTH_MAX) {
      this.#fail('is too long. Perhaps a quote is not closed')
    }
  }

  #toRow(fields: readonly Field[]): Row {
    const { length } = fields
    this.#columns ??= length
    const row = { number: this.#line, values: { ...fields } }
    if (length === this.#columns) return row
    const problem = `The row has ${count(length, 'field')}, but the first row has ${this.#columns}`
    return { ...row, problem }
  }

  /** Moves after a row. Returns undefined if more text is needed. */
  #parseRow({ separator, special }: Format): readonly Field[] | undefined {
    const fields: Field[] = []
    for (;;) {
      if (fields.length === COLUMNS_MAX) this.#fail(`has more than ${COLUMNS_MAX} fields`)
      const isQuoted = this.#text[this.#at] === '"'
      const end = isQuoted ? this.#parseQuoted(fields) : this.#parseUnquoted(fields, special)
      if (end === undefined) return undefined
      const next = this.#text[end]
      this.#at = end + 1
      if (next === '\n' || next === undefined) return fields
      if (next !== separator) this.#fail('has a quote that is not doubled within a quoted field')
    }
  }

  /** Adds a field, and returns the index of the separator or line break after it; undefined if more text is needed. */
  #parseUnquoted(fields: Field[], special: RegExp): number | undefined {
    const text = this.#text
    special.lastIndex = this.#at
    const end = special.exec(text)?.index ?? text.length
    if (end === text.length && !this.#isLast) return undefined
    if (text[end] === '"') this.#fail('has a quote in a field that does not start with one')
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
    if (end === -1 && this.#isLast) this.#fail('has a quote that is not closed')
    // The quote can be the first of a pair, and the character after it the first half of a line break.
    if (end === -1 || (end + 2 >= text.length && !this.#isLast)) return undefined
    const field = text.slice(start, end).replaceAll('""', '"')
    fields.push(field)
    this.#lineBreaks += field.split('\n').length - 1
    return text.startsWith('\r\n', end + 1) ? end + 2 : end + 1
  }

  #fail(problem: string): never {
    throw new FileProblem(`Line ${this.#line} ${problem}. The file cannot be read from there.`)
  }
}

/** Where the decimal mark is a comma, spreadsheets separate fields by semicolons. */
function detectFormat(start: string): Format {
  const unquoted = start.replace(/"[^"]*("|$)/g, '')
  const separator = /[,;\t]/.exec(unquoted)?.[0] ?? ','
  const hasReturnsOnly = unquoted.includes('\r') && !unquoted.includes('\n')
  return { separator, special: new RegExp(`[${separator}"\n]`, 'g'), hasReturnsOnly }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
