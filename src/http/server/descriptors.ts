/** File descriptors. While none is free, libuv closes each new connection without reporting it. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'

/** For everything except clients: the database, threads, webhooks, PostgreSQL, the admin port and its connections. */
const RESERVED = 256

const INTERVAL_MS = 1000

const ADVICE =
  'raise the limit of open files (LimitNOFILE= in systemd, ulimit -n), or lower --max-connections'

/**
 * Limits the connections to what the limit of open files allows, so that the admin port stays reachable.
 *
 * @param warn receives the reason if it allows fewer than `max`
 */
export function limitToDescriptors(
  max: number,
  warn: (message: string) => void,
  files = readLimit(),
): number {
  const possible = connectionsPossible(files)
  if (possible >= max) return max
  warn(`with ${files} open files at most, the service accepts ${possible} connections: ${ADVICE}`)
  return possible
}

/** How many connections the limit of open files allows. */
export function connectionsPossible(files = readLimit()): number {
  return files - Math.min(RESERVED, Math.floor(files / 2))
}

/** Checks every second whether no descriptor is free, and reports it. Does not keep the process running. */
export function watchDescriptors(onProblem: (problem: string) => void): NodeJS.Timeout {
  const look = () => {
    try {
      closeSync(openSync(devNull, 'r'))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      onProblem(`no file can be opened (${code}), and new connections are closed: ${ADVICE}`)
    }
  }
  return setInterval(look, INTERVAL_MS).unref()
}

/** The limit of open files, which Node has raised as far as it can; infinite if it is unknown. */
export function readLimit(path = '/proc/self/limits'): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8')) ?? []
    return Number(limit ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
