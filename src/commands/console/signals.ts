import { constants } from 'node:os'
import { systemClock } from '../../../core/time/clock.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** After Ctrl-C both the terminal and `npm start` send SIGINT; a signal this soon is not a second request to stop. */
const ECHO_MS = 250

const PARENT_POLL_MS = 100

/**
 * Calls `stop` on the first SIGINT or SIGTERM, with the exit code that shells use for the signal. A second signal ends
 * the process immediately with its own exit code.
 */
export function onStopSignal(stop: (exitCode: number) => void): void {
  let stoppedAt: number | undefined
  for (const signal of SIGNALS) {
    const exitCode = 128 + constants.signals[signal]
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        stop(exitCode)
        // The echo may have arrived while `stop` ran.
        stoppedAt = systemClock.monotonic()
      } else if (systemClock.monotonic() - stoppedAt > ECHO_MS) {
        process.exit(exitCode)
      }
    })
  }
}

/**
 * Calls `stop` when npm exits, if npm started this process. A signal to `npx` or `npm start` ends only npm and the
 * shell that it runs commands in, not this process.
 */
export function onNpmExit(stop: () => void): void {
  if (!['npx', 'start'].includes(String(process.env.npm_lifecycle_event))) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid !== parent) {
      clearInterval(timer)
      stop()
    }
  }, PARENT_POLL_MS).unref()
}
