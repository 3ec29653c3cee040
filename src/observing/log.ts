import type { FastifyBaseLogger } from 'fastify'
import { type Logger, pino } from 'pino'
import type { Config } from '../config/config.ts'
import { LimitedLog } from './limited-log.ts'

/** A problem that lasts is logged again after this time. */
const PROBLEM_PERIOD_MS = 60_000

/**
 * Creates a log on standard error: JSON lines, or a human-readable format on a terminal.
 *
 * @param isTerminal whether standard error is a terminal; threads other than the main one cannot find out
 */
export async function createLog(
  { logLevel: level }: Pick<Config, 'logLevel'>,
  isTerminal = process.stderr.isTTY,
): Promise<Logger> {
  if (!isTerminal || level === 'silent') return pino({ level }, process.stderr)
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
}

/** Creates a function that logs a problem, in one line, unless it has logged the same one in the last minute. */
export function createProblemLog(log: FastifyBaseLogger): (problem: string) => void {
  const problems = new LimitedLog({ periodMs: PROBLEM_PERIOD_MS })
  return (problem) => problems.write(problem, () => log.error(problem))
}
