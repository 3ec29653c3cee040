/**
 * Keeps SIGINT and SIGTERM from ending the process, so that it can clean up. Ctrl-C also stops servers and load
 * generators, so the current measurement fails or is the last one. After that, a signal exits immediately.
 *
 * @returns a signal to check before each measurement
 */
export function watchInterruption(): AbortSignal {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      interruption.abort(new Error(`interrupted by ${signal}`))
      process.once(signal, () => process.exit(1))
    })
  }
  return interruption.signal
}
