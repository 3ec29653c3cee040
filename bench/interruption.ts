/**
 * Keeps SIGINT and SIGTERM from ending the process, so that it can clean up. Ctrl-C also stops servers and load
 * generators, so the current measurement fails or is the last one. A second signal ends the process immediately.
 *
 * @returns a signal to check before each measurement
 */
export function watchInterruption(): AbortSignal {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => interruption.abort(new Error(`interrupted by ${signal}`)))
  }
  return interruption.signal
}
