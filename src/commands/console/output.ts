import { fstatSync, statSync } from 'node:fs'
import { constants, devNull } from 'node:os'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import {
  CommandError,
  codeOf,
  FileError,
  fileError,
  Interrupted,
  messageOf,
} from '../../system/user-errors.ts'

/** The start of the error message when standard output cannot be written. */
export const STDOUT_ERROR = 'cannot write to standard output'

/**
 * The reader of standard output has gone away, as in `plant-store check | head`. The command ends without a message, and
 * with the exit code of a program that SIGPIPE ends.
 */
export class ClosedPipe extends Interrupted {
  constructor() {
    super(128 + constants.signals.SIGPIPE, `${STDOUT_ERROR}: its reader has gone away`)
  }
}

/**
 * Prints lines to standard output, with control characters escaped. Commands use it instead of `process.stdout.write`,
 * whose errors are lost unless its callback handles them.
 *
 * @throws ClosedPipe, or FileError if standard output cannot be written
 */
export async function print(text: string): Promise<void> {
  try {
    await write(text.split('\n').map(escapeControlCharacters).join('\n'))
  } catch (error) {
    throw isClosedPipe(error) ? new ClosedPipe() : fileError(STDOUT_ERROR, error)
  }
}

function write(text: string): Promise<void> {
  const { stdout } = process
  return new Promise((resolve, reject) => {
    // Writes after the first failure have a less useful error.
    stdout.write(text, (error) => (error ? reject(stdout.errored ?? error) : resolve()))
  })
}

/** Prints a message that the command can do without to standard output. A failure is reported, and changes nothing. */
export async function announce(text: string): Promise<void> {
  try {
    await print(text)
  } catch (error) {
    if (!(error instanceof ClosedPipe)) process.stderr.write(`plant-store: ${messageOf(error)}\n`)
  }
}

/**
 * Requires that somebody can see what is printed, before a secret is created.
 *
 * @throws CommandError if standard output is the null device, which Node also opens in place of a closed descriptor
 */
export function requireReader(): void {
  // Undefined in a test that replaces the stream.
  const { fd } = process.stdout as { readonly fd?: number }
  if (fd === undefined) return
  const output = fstatSync(fd)
  if (!output.isCharacterDevice() || output.rdev !== statSync(devNull).rdev) return
  throw new CommandError(
    `standard output is closed or ${devNull}, so nobody would see the secret: nothing was changed`,
  )
}

/**
 * Prints a secret that has been stored. If that fails, nobody knows the secret, so it is removed again.
 *
 * @param name what is removed, such as `the token ci`
 * @throws FileError
 */
export async function printSecret(
  secret: string,
  name: string,
  remove: () => Promise<unknown>,
): Promise<void> {
  try {
    await print(`${secret}\n`)
  } catch (error) {
    await remove()
    throw new FileError(`${messageOf(error)}; ${name} was removed again`, { cause: error })
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
