import type { Config } from '../config/config.ts'
import { start } from '../start.ts'
import { greeting, readyLine } from './greeting.ts'
import { onEndOfNpm, onStopSignal } from './signals.ts'
import { disablePretenuring } from './v8-flags.ts'

/** What the end of the process may take beyond the requests, in milliseconds. */
const CLOSING = 5000

/**
 * Serves until a signal says stop, or npm has gone; then requests under way end, and the process with code 0.
 * Resolves when it listens, and has said so on standard output.
 */
export async function serve(config: Config): Promise<void> {
  disablePretenuring()
  const { url, access, certificate, close } = await start(config)
  const stop = () => {
    setTimeout(() => process.exit(1), config.shutdownTimeout + CLOSING).unref()
    close()
  }
  onStopSignal(stop)
  onEndOfNpm(stop)
  const told = config.readyJson ? readyLine : greeting
  process.stdout.write(told(config, url, access, certificate))
}
