import { type Logger, pino } from 'pino'
import type { Config } from './config/config.ts'

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
