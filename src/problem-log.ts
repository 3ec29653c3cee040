import type { FastifyBaseLogger } from 'fastify'

/** A problem that lasts is logged again after this time. */
const INTERVAL_MS = 60_000

/** Creates a function that logs a problem, in one line, unless it has logged the same one in the last minute. */
export function createProblemLog(
  log: FastifyBaseLogger,
  intervalMs = INTERVAL_MS,
): (problem: string) => void {
  /** When each problem was logged, by `performance.now()`. */
  const logged = new Map<string, number>()
  return (problem) => {
    const now = performance.now()
    for (const [other, at] of logged) if (now - at >= intervalMs) logged.delete(other)
    if (logged.has(problem)) return
    logged.set(problem, now)
    log.error(problem)
  }
}
