import { addAbortListener } from 'node:events'
import type { Config } from '../../config/config.ts'
import { requireFaultsPort } from '../../config/consistency.ts'
import { start } from '../../start/start.ts'
import { ThreadFailure } from '../../system/thread-module.ts'
import { Interrupted } from '../../system/user-errors.ts'
import { disablePretenuring } from '../../system/v8-flags.ts'
import { print } from '../console/output.ts'
import { onNpmExit, onStopSignal } from '../console/signals.ts'
import { greeting, readyLine } from './greeting.ts'

/** How long closing the store can take after `shutdownTimeout`. */
const CLOSE_TIMEOUT_MS = 5000

function endNow(): void {
  process.stderr.write(
    'plant-store: ended before the database completed all changes; those without a response may not be stored\n',
  )
  process.exit(1)
}

/**
 * Serves until a signal or the exit of npm, then finishes the requests in flight and lets the process end. Resolves
 * once the service listens and the greeting is on standard output.
 */
export async function serve(config: Config): Promise<void> {
  requireFaultsPort(config)
  disablePretenuring()
  reportThreadFailures()
  const stopping = new AbortController()
  const stop = (exitCode = 0) => stopping.abort(new Interrupted(exitCode))
  // Otherwise, a signal ends the process until the service listens.
  if (config.seed !== undefined) onStopSignal(stop)
  const { warning, ...running } = await start(config, stopping.signal)
  if (warning !== undefined) process.stderr.write(`plant-store: ${warning}\n`)
  if (config.seed === undefined) onStopSignal(stop)
  // It is also called if the service was stopped while it started.
  addAbortListener(stopping.signal, () => {
    setTimeout(endNow, config.shutdownTimeout + CLOSE_TIMEOUT_MS).unref()
    running.close()
  })
  onNpmExit(stop)
  const announcement = (config.readyJson ? readyLine : greeting)(config, running)
  try {
    await print(announcement)
  } catch (error) {
    await running.close()
    throw error
  }
}

/** Ends the process with a message if one of its threads fails, and as usual for any other uncaught exception. */
function reportThreadFailures(): void {
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
