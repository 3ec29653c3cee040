import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'

/** The fields of a record; undefined where there is nothing, not even quotes. */
export type Fields = readonly (string | undefined)[]

/** Perhaps it is closed further on. */
export const QUOTE_NOT_CLOSED = 'a quote is not closed'

/** The way out of the parser. */
class NotTaken extends Error {}

/** What the parser's errors mean to whoever wrote the file. */
const PROBLEMS: { readonly [code: string]: string } = {
  CSV_INVALID_CLOSING_QUOTE: 'a quote within a field must be doubled',
  INVALID_OPENING_QUOTE: 'a field that has a quote must be in quotes',
  CSV_QUOTE_NOT_CLOSED: QUOTE_NOT_CLOSED,
}

/**
 * Reads records up to the first malformed one, if there is one.
 *
 * @param take is given the fields of each record, or nothing if it is not UTF-8, and where it ends; it
 *   returns what is wrong with the record if it does not take it
 * @returns what is wrong with the record behind the last one taken
 */
export function parseCsv(
  bytes: Buffer,
  take: (fields: Fields | undefined, end: number) => string | undefined,
): string | undefined {
  // Latin 1 has a character for each byte, so it tells the record that is not UTF-8 from the others.
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  try {
    parse(bytes, {
      encoding,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      cast: (text, { quoting }) => (text === '' && !quoting ? undefined : text),
      on_record: (fields: Fields, { bytes: end }) => {
        const problem = take(encoding === 'utf8' ? fields : decode(fields), end)
        if (problem !== undefined) throw new NotTaken(problem)
        // So that the parser keeps none of them.
        return undefined
      },
    })
    return undefined
  } catch (error) {
    if (error instanceof NotTaken) return error.message
    const problem = error instanceof CsvError ? PROBLEMS[error.code] : undefined
    if (problem === undefined) throw error
    return problem
  }
}

function decode(fields: Fields): Fields | undefined {
  const bytes = fields.map((field) => field && Buffer.from(field, 'latin1'))
  return bytes.every((each) => !each || isUtf8(each))
    ? bytes.map((each) => each?.toString())
    : undefined
}
