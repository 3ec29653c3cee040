/** Aligns columns with spaces. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => String(row[column]).length))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(width(column))).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

/** A time in UTC, without seconds. */
export function formatMinute(date: Date): string {
  return `${date.toISOString().slice(0, 16)}Z`
}
