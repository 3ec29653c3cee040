import type { StoredPlant } from '../../service/plant-store.ts'

/**
 * A character that makes a cell a formula, after whitespace that a spreadsheet may trim. The last four are full-width
 * forms. OWASP also lists tabs and line breaks, because spreadsheets trim them.
 */
const AT_START = /^(?:[^\S\t\r\n]*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * The same characters within text. In locales whose decimal mark is a comma, Excel splits lines at semicolons. Each
 * line starts with an unquoted id, so Excel then ignores the quotes after it and splits text at semicolons and line
 * breaks.
 */
const WITHIN = /([;\t\r\n](?:[^\S\t\r\n]|")*)([=+\-@＝＋－＠])/g

/**
 * A plant as a line of CSV for spreadsheets. An apostrophe precedes anything that could become a formula, which would
 * run with the rights of the person who opens the file (https://owasp.org/www-community/attacks/CSV_Injection). The
 * original text cannot be recovered.
 *
 * A negative id stays a number. It is harmless because every name is quoted; otherwise `-1,5+…` could be a formula in
 * locales whose decimal mark is a comma.
 */
export function formulaFreeLine({ id, name, tag }: StoredPlant): string {
  return `${id},${escapeFormulas(name)},${tag === undefined ? '' : escapeFormulas(tag)}\n`
}

function escapeFormulas(text: string): string {
  const harmless = text.replace(AT_START, "'$&").replace(WITHIN, "$1'$2")
  return `"${harmless.replaceAll('"', '""')}"`
}
