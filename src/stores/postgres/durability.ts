import { StoreError } from '../store-error.ts'
import type { Connections } from './connections.ts'

/** Settings of the server that determine the encoding of text, and what a commit guarantees. */
export interface ServerSettings {
  readonly server_encoding: string | null
  readonly fsync: string | null
  readonly synchronous_commit: string | null
  readonly synchronous_standby_names: string | null
}

/** Reads the settings. A setting that the server lacks is null; only PostgreSQL has all of them. */
export async function readSettings(connections: Connections): Promise<ServerSettings> {
  const [settings] = await connections.query<ServerSettings>(
    `SELECT current_setting('server_encoding', true) AS server_encoding,
            current_setting('fsync', true) AS fsync,
            current_setting('synchronous_commit', true) AS synchronous_commit,
            current_setting('synchronous_standby_names', true) AS synchronous_standby_names`,
  )
  return settings as ServerSettings
}

/** Why a server with these settings could lose or alter plants; undefined if it could not. */
export function findUnsafeSetting(settings: ServerSettings): string | undefined {
  const { server_encoding: encoding, fsync, synchronous_commit: synchronous } = settings
  if (encoding !== null && !/^utf-?8$/i.test(encoding)) {
    return `its encoding is ${encoding}, not UTF8`
  }
  if (fsync === 'off') return 'fsync is off, so it can lose acknowledged changes'
  if (synchronous !== 'off') return undefined
  return 'synchronous_commit is off, so it can lose acknowledged changes'
}

/** @throws StoreError if a setting of the server is unsafe */
export async function requireDurable(connections: Connections): Promise<void> {
  const reason = findUnsafeSetting(await readSettings(connections))
  if (reason !== undefined) throw new StoreError(reason)
}
