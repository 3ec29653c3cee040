import { getSystemErrorMessage } from 'node:util'
import { propertiesOf } from '../../core/known.ts'

/** An error that the person at the command line can fix. The message is shown without a stack trace. */
export class UserError extends Error {}

/** A command cannot do what its arguments ask for. */
export class CommandError extends UserError {}

/** A file cannot be read or written, or its contents are invalid. */
export class FileError extends UserError {}

/** A stop signal of the operating system interrupts a command. */
export class Interrupted extends UserError {
  /** The one that shells use for the signal. */
  readonly exitCode: number

  constructor(exitCode: number, message = 'interrupted') {
    super(message)
    this.exitCode = exitCode
  }
}

/** The code of an error, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const { code } = propertiesOf(error)
  return typeof code === 'string' ? code : undefined
}

/** The message of an error, or whatever else was thrown as a string. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Turns an error of the file system into a FileError. Returns any other error unchanged.
 *
 * @param failure such as `cannot read plants.csv`
 */
export function fileError(failure: string, error: unknown): unknown {
  const { errno } = propertiesOf(error)
  if (typeof errno !== 'number') return error
  return new FileError(`${failure}: ${getSystemErrorMessage(errno)}`, { cause: error })
}
