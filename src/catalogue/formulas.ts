import type { StoredPlant } from '../../service/plant-store.ts'

/**
 * A character that makes a cell a formula, after spaces that a spreadsheet may trim. The last four are full-width
 * forms. OWASP adds a tab and the ends of lines, which are trimmed too.
 */
const AT_START = /^(?=[^\S\t\r\n]*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * The same within a text. Where the comma is the decimal mark, Excel splits lines at semicolons. Quotes protect nothing
 * then, because each line starts with an id, so texts are split at semicolons and ends of lines.
 */
const WITHIN = /([;\t\r\n](?:[^\S\t\r\n]|")*)(?=[=+\-@＝＋－＠])/g

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
