import { ThreadFailure } from '../threads/thread-module.ts'

/** Ends the process with a message if one of its threads fails, and as usual for any other uncaught exception. */
export function reportThreadFailures(): void {
  process.on('uncaughtException', (error) => {
    if (error instanceof ThreadFailure) {
      process.stderr.write(`plant-store: ${error.message}\n`)
      if (error.cause !== undefined) console.error(error.cause)
    } else {
      console.error(error)
    }
    process.exit(1)
  })
}
