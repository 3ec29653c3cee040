import { ThreadFailure } from '../threads/thread-module.ts'

/** Ends the process with a message if one of its threads fails, as for any other uncaught exception. */
export function reportThreadFailures(): void {
  process.on('uncaughtException', (error) => {
    if (error instanceof ThreadFailure) process.stderr.write(`plant-store: ${error.message}\n`)
    const cause = error instanceof ThreadFailure ? error.cause : error
    if (cause !== undefined) console.error(cause)
    process.exit(1)
  })
}
