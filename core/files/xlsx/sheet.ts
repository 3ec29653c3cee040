/** As many as a sheet has in Excel. */
export const ROWS_MAX = 2 ** 20

/** LibreOffice keeps an empty string only as the result of this formula. */
export const EMPTY_FORMULA = '""'

/** The letters of a column, whose number starts at 0. */
export function columnName(column: number): string {
  const rest = Math.floor(column / 26)
  return (rest > 0 ? columnName(rest - 1) : '') + String.fromCharCode(65 + (column % 26))
}
