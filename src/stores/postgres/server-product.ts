import { StoreError } from '../store-error.ts'
import type { Connections } from './connection/connections.ts'

/** The oldest major version of PostgreSQL that is supported: the first with `xid8` and `pg_snapshot`. */
export const VERSION_MIN = 13

/** The result of `version()`, with a distribution in parentheses. Forks have other numbers, or a name after them. */
const POSTGRES = /^PostgreSQL (\d+)(?:\.\d+|(?:devel|beta|rc)\d*)*(?: \([^)]*\))? on /

/** The database engine of a server. */
export interface ServerProduct {
  /** Such as `PostgreSQL 18.1`. */
  readonly name: string
  /** Whether it is a supported version of PostgreSQL. On any other server, no standbys can be required. */
  readonly isSupported: boolean
}

/** Asks a server for its engine. */
export async function identifyServer(connections: Connections): Promise<ServerProduct> {
  const [row] = await connections.query<{ version: string }>('SELECT version() AS version')
  return identify((row as { version: string }).version)
}

/** @param version the result of `version()` */
export function identify(version: string): ServerProduct {
  const [name] = version.split(/ on | \(|, /, 1)
  const [, major = 0] = POSTGRES.exec(version) ?? []
  return { name: name as string, isSupported: Number(major) >= VERSION_MIN }
}

/**
 * @param what requires a supported server, such as `standbys can be required of`
 * @throws StoreError if the server is not supported
 */
export function requireSupport({ name, isSupported }: ServerProduct, what: string): void {
  if (isSupported) return
  throw new StoreError(`${what} PostgreSQL ${VERSION_MIN} or later, but the server is ${name}`)
}
