import type { Config } from '../config/config.ts'
import { start } from '../start.ts'
import { greeting, readyLine } from './greeting.ts'
import { onNpmExit, onStopSignal } from './signals.ts'
import { reportThreadFailures } from './thread-failures.ts'
import { disablePretenuring } from './v8-flags.ts'

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
  disablePretenuring()
  reportThreadFailures()
  const { warning, close, ...running } = await start(config)
  if (warning !== undefined) process.stderr.write(`plant-store: ${warning}\n`)
  const stop = () => {
    setTimeout(endNow, config.shutdownTimeout + CLOSE_TIMEOUT_MS).unref()
    close()
  }
  onStopSignal(stop)
  onNpmExit(stop)
  const announce = config.readyJson ? readyLine : greeting
  process.stdout.write(announce(config, running))
}
