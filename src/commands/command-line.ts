import { ContractError } from '../../core/contract/contract.ts'
import { propertiesOf } from '../../core/known.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'
import { Interrupted, UserError } from '../system/user-errors.ts'
import { ClosedPipe } from './console/output.ts'
import { program } from './program.ts'

/** Errors the user can fix. They are printed as one line without a stack trace. */
const USER_ERRORS = [UserError, ContractError, StoreUnavailable]

/**
 * Runs the command line. Prints errors on standard error instead of throwing them, and sets the process's exit code.
 * Ends the process only if the arguments are invalid or ask for help.
 *
 * @param args the arguments after the name of the program
 */
export async function main(args: readonly string[]): Promise<void> {
  // Otherwise, these errors would be uncaught exceptions. `print` reports those that matter.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  try {
    await program().parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof ClosedPipe) {
      // The command ends without a message, like other programs in a pipeline.
    } else if (isUserError(error)) {
      // It can quote another service.
      process.stderr.write(`plant-store: ${escapeControlCharacters(error.message)}\n`)
    } else {
      console.error(error)
    }
    process.exitCode = error instanceof Interrupted ? error.exitCode : 1
  }
}

function isUserError(error: unknown): error is Error {
  return USER_ERRORS.some((type) => error instanceof type) || isListenError(error)
}

/** Whether the address is unknown, in use, forbidden or not one of this machine. */
function isListenError(error: unknown): boolean {
  return ['getaddrinfo', 'listen'].includes(String(propertiesOf(error).syscall))
}
