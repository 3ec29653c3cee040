import type { StoredPlant } from '../../service/plant-store.ts'

/** What makes a cell a formula as its first character; the last four are full-width forms. */
const SIGN = '[=+\\-@＝＋－＠]'

/** Spaces that a spreadsheet may trim. */
const SPACE = '[^\\S\\t\\r\\n]'

/** OWASP counts a tab and an end of line among the signs, as they are trimmed too. */
const AT_START = new RegExp(`^(?=${SPACE}*${SIGN}|[\\t\\r\\n])`)

/**
 * Excel takes the semicolon for the separator wherever the comma is the decimal mark. Then quotes protect nothing, as
 * each line starts with an id, so that texts are split at semicolons and ends of lines.
 */
const WITHIN = new RegExp(`([;\\t\\r\\n](?:${SPACE}|")*)(?=${SIGN})`, 'g')

/**
 * A plant as a line of CSV for spreadsheets, with an apostrophe before all that could become a formula, and run as the
 * person who opens the file (https://owasp.org/www-community/attacks/CSV_Injection). The original text cannot be
 * read from it again.
 *
 * A negative id stays a number, and is no danger: every text is in quotes, or `-1,5+…` could be a formula where the
 * comma is the decimal mark.
 */
export function formulaFreeLine({ id, name, tag }: StoredPlant): string {
  return `${id},${escaped(name)},${tag === undefined ? '' : escaped(tag)}\n`
}

function escaped(text: string): string {
  const harmless = text.replace(AT_START, "'").replace(WITHIN, "$1'")
  return `"${harmless.replaceAll('"', '""')}"`
}
