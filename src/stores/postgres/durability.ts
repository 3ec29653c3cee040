import { StoreError } from '../store-error.ts'
import type { Connections } from './connections.ts'

/** Settings of the server on which it depends whether text comes back as it was, and what a commit means. */
export interface ServerSettings {
  readonly server_encoding: string | null
  readonly fsync: string | null
  readonly synchronous_commit: string | null
  readonly synchronous_standby_names: string | null
}

/** What is null the server does not know: others than PostgreSQL have no such choice. */
export async function readSettings(connections: Connections): Promise<ServerSettings> {
  const [settings] = await connections.query<ServerSettings>(
    `SELECT current_setting('server_encoding', true) AS server_encoding,
            current_setting('fsync', true) AS fsync,
            current_setting('synchronous_commit', true) AS synchronous_commit,
            current_setting('synchronous_standby_names', true) AS synchronous_standby_names`,
  )
  return settings as ServerSettings
}

/** Why plants cannot be entrusted to a server with these settings; if there is no reason they can. */
export function refuseSettings(settings: ServerSettings): string | undefined {
  const { server_encoding: encoding, fsync, synchronous_commit: synchronous } = settings
  if (encoding !== null && !/^utf-?8$/i.test(encoding))
    return `its encoding is ${encoding}, not UTF8`
  if (fsync === 'off') return 'it has fsync = off, and may lose what it has acknowledged'
  if (synchronous !== 'off') return undefined
  return 'it has synchronous_commit = off, and may lose what it has acknowledged'
}

/** @throws StoreError saying what is in the way of entrusting plants to the server */
export async function requireDurable(connections: Connections): Promise<void> {
  const reason = refuseSettings(await readSettings(connections))
  if (reason !== undefined) throw new StoreError(reason)
}
