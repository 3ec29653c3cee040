/** File descriptors. While none is free, libuv closes each new connection without reporting it. */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { ConfigError } from '../config/config.ts'
import { codeOf } from '../system/user-errors.ts'

/**
 * For what is opened later: the listeners (32), the connections of the admin port (64), and those to webhooks, PostgreSQL
 * and the issuer.
 */
const RESERVED = 160

const INTERVAL_MS = 1000

const ADVICE =
  'raise the limit of open files (LimitNOFILE= in systemd, ulimit -n), or lower --max-connections'

/**
 * How many connections the limit of open files allows, so that the admin port stays reachable. Must be called when all
 * else is open.
 *
 * @param warn receives the reason if they are fewer than `max`
 * @throws ConfigError if they are fewer than the threads
 */
export function connectionsPossible(
  max: number,
  threads: number,
  warn: (message: string) => void,
  { files, open } = readFiles(),
): number {
  const possible = files - open - RESERVED
  const most = `with ${files} open files at most`
  if (possible < threads) {
    const needed = open + RESERVED + threads
    throw new ConfigError(`${most}, the service cannot accept connections: it needs ${needed}`)
  }
  if (possible < max) warn(`${most}, the service accepts ${possible} connections: ${ADVICE}`)
  return possible
}

/** Checks every second whether no descriptor is free, and reports it. Does not keep the process running. */
export function watchDescriptors(onProblem: (problem: string) => void): NodeJS.Timeout {
  const look = () => {
    try {
      closeSync(openSync(devNull, 'r'))
    } catch (error) {
      onProblem(
        `no file can be opened (${codeOf(error)}), and new connections are closed: ${ADVICE}`,
      )
    }
  }
  return setInterval(look, INTERVAL_MS).unref()
}

/** The limit of open files, which Node has raised as far as it can, and how many are open. Infinite if it is unknown. */
export function readFiles(process = '/proc/self'): { files: number; open: number } {
  try {
    const [, limit] =
      /^Max open files +(\d+)/m.exec(readFileSync(`${process}/limits`, 'utf8')) ?? []
    return {
      files: Number(limit ?? Number.POSITIVE_INFINITY),
      open: readdirSync(`${process}/fd`).length,
    }
  } catch {
    return { files: Number.POSITIVE_INFINITY, open: 0 }
  }
}
