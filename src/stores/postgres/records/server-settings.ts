import { StoreError } from '../../shared/store-error.ts'
import type { Connections } from '../connection/connections.ts'
import { one } from '../connection/pooled-client.ts'
import type { ReplicationSettings } from '../connection/standby-guarantee.ts'

/** Settings of the server that determine the encoding of text, and what a commit guarantees. */
export interface ServerSettings extends ReplicationSettings {
  readonly server_encoding: string
  readonly fsync: string
  readonly client_min_messages: string
}

const NAMES: readonly (keyof ServerSettings)[] = [
  'server_encoding',
  'fsync',
  'client_min_messages',
  'synchronous_commit',
  'synchronous_standby_names',
  'max_wal_senders',
]
const SETTINGS = NAMES.map((name) => `current_setting('${name}') AS ${name}`)

export async function readSettings(connections: Connections): Promise<ServerSettings> {
  return one(await connections.query<ServerSettings>(`SELECT ${SETTINGS}`))
}

/** Why a server with these settings could lose or alter plants; undefined if it could not. */
export function findUnsafeSetting(settings: ServerSettings): string | undefined {
  const {
    server_encoding: encoding,
    fsync,
    synchronous_commit: synchronous,
    client_min_messages: messages,
  } = settings
  if (encoding !== 'UTF8') return `its encoding is ${encoding}, not UTF8`
  if (fsync === 'off') return 'fsync is off, so it can lose acknowledged changes'
  if (synchronous === 'off') {
    return 'synchronous_commit is off, so it can lose acknowledged changes'
  }
  if (messages !== 'error') return undefined
  return 'client_min_messages is error, so it does not report changes that no standby has'
}

/** @throws StoreError if a setting of the server is unsafe */
export async function requireDurable(connections: Connections): Promise<void> {
  const reason = findUnsafeSetting(await readSettings(connections))
  if (reason !== undefined) throw new StoreError(reason)
}
