import { pipeline } from 'node:stream/promises'
import { codeOf, fileError } from '../../system/errors.ts'
import { escapeControlCharacters } from '../../transfer/unknown-fields.ts'

/** The start of the error message when standard output cannot be written. */
export const STDOUT_ERROR = 'cannot write to standard output'

/**
 * Prints to standard output. A reader that has gone away is not an error.
 *
 * @throws FileError if standard output cannot be written
 */
export async function print(text: string): Promise<void> {
  try {
    await pipeline([text], process.stdout)
  } catch (error) {
    if (!isClosedPipe(error)) throw fileError(STDOUT_ERROR, error)
  }
}

/** Whether a write failed because the reader has gone away, as in `plant-store export | head`. */
export function isClosedPipe(error: unknown): boolean {
  return codeOf(error) === 'EPIPE'
}

/** Aligns columns with spaces, and escapes control characters, which the database can contain. */
export function formatTable(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(escapeControlCharacters))
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
