import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** `npm start` forwards the signal that a terminal has sent to us already; that is no second one. */
const ECHO = 100

/** How often to look whether whoever has started us is still there, in milliseconds. */
const LOOK = 100

/**
 * Calls `stop` when SIGINT or SIGTERM says so, with the exit code by which shells know the signal. A
 * second signal ends the process at once, with that code.
 */
export function onStopSignal(stop: (code: number) => void): void {
  let stopped: number | undefined
  for (const signal of SIGNALS) {
    const code = 128 + constants.signals[signal]
    process.on(signal, () => {
      if (stopped === undefined) {
        stopped = performance.now()
        stop(code)
      } else if (performance.now() - stopped > ECHO) {
        process.exit(code)
      }
    })
  }
}

/**
 * Calls `stop` when npm has gone, if that was what started us: a signal to `npx` or `npm start` ends the shell
 * that stands between it and us, and would leave us behind.
 */
export function onEndOfNpm(stop: () => void): void {
  if (!['npx', 'start'].includes(String(process.env.npm_lifecycle_event))) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== parent) {
      clearInterval(watch)
      stop()
    }
  }, LOOK).unref()
}
