import { SELECTOR_BYTES } from '../../../service/token-store.ts'
import type { CheckResult, Verdict } from '../check-result.ts'
import { StoreError } from '../store-error.ts'
import { parseConnectionString } from './connection-string.ts'
import { Connections } from './connections.ts'
import { readSettings, refuseSettings } from './durability.ts'
import type { ServerOptions } from './postgres-store.ts'
import { missingObjects, SCHEMA_VERSION, versionOf } from './schema.ts'

type Verify = (connections: Connections) => Promise<Verdict>

const UNDEFINED_TABLE = '42P01'

/** If the first one finds a fault, the others would have nothing to say. */
const VERIFICATIONS: Record<string, Verify> = {
  kind,
  schema,
  server,
  connection,
  acknowledged,
  tokens,
  plants,
}

/**
 * Verifies a database of ours on a server, without changing it; services may go on writing to it. Its
 * pages are the server's to verify, as with `pg_amcheck`.
 *
 * @throws StoreError if it cannot be checked
 */
export async function* checkDatabase({ url, timeout }: ServerOptions): AsyncGenerator<CheckResult> {
  const { urls, shown } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    for (const [what, verify] of Object.entries(VERIFICATIONS)) {
      const verdict = await verify(connections).catch(withoutTable)
      yield { what, ...verdict }
      if (verify === kind && !verdict.sound) return
    }
  } catch (cause) {
    const reason = `cannot check the database ${shown}: ${(cause as Error).message}`
    throw new StoreError(reason, { cause })
  } finally {
    await connections.close()
  }
}

function sound(says: string): Verdict {
  return { sound: true, says }
}

function fault(says: string): Verdict {
  return { sound: false, says }
}

/** What `schema` misses the others cannot look into. */
function withoutTable(error: { code?: string; message: string }): Verdict {
  if (error.code === UNDEFINED_TABLE) return fault(error.message)
  throw error
}

async function kind(connections: Connections): Promise<Verdict> {
  try {
    const version = await versionOf(connections)
    return version > 0 ? sound('a database of plant-store') : fault('it is empty')
  } catch (error) {
    if (error instanceof StoreError) return fault(error.message)
    throw error
  }
}

async function schema(connections: Connections): Promise<Verdict> {
  const version = await versionOf(connections)
  if (version > SCHEMA_VERSION)
    return fault(`version ${version}, this program knows up to ${SCHEMA_VERSION}`)
  const missing = await missingObjects(connections, version)
  if (missing.length > 0) return fault(`these are not there: ${missing.join(', ')}`)
  const upgrade = `; the next start of the service makes it ${SCHEMA_VERSION}`
  return sound(`version ${version}${version < SCHEMA_VERSION ? upgrade : ''}`)
}

async function server(connections: Connections): Promise<Verdict> {
  const [row] = await connections.query<{ version: string }>('SELECT version() AS version')
  const { server_encoding } = await readSettings(connections)
  return sound(
    [row?.version, server_encoding && `text in ${server_encoding}`].filter(Boolean).join(', '),
  )
}

async function connection(connections: Connections): Promise<Verdict> {
  return sound(connections.encryption)
}

/** What it means when a change is acknowledged. */
async function acknowledged(connections: Connections): Promise<Verdict> {
  const settings = await readSettings(connections)
  const reason = refuseSettings(settings)
  if (reason !== undefined) return fault(reason)
  const { synchronous_commit, synchronous_standby_names: standbys } = settings
  const alone = !standbys || synchronous_commit === 'local'
  return sound(alone ? "on the server's disk" : `on the server's disk and on standbys: ${standbys}`)
}

async function tokens(connections: Connections): Promise<Verdict> {
  const broken = await connections.query<{ name: string }>(
    `SELECT name FROM tokens WHERE octet_length(digest) <> 32 OR substr(digest, 1, $1) <> selector
     ORDER BY name`,
    [SELECTOR_BYTES],
  )
  const names = broken.map(({ name }) => name)
  if (names.length > 0) return fault(`these are not whole, make them anew: ${names.join(', ')}`)
  return sound(await countOf(connections, 'tokens'))
}

async function plants(connections: Connections): Promise<Verdict> {
  return sound(await countOf(connections, 'plants'))
}

async function countOf(connections: Connections, table: string): Promise<string> {
  const rows = await connections.query<{ count: bigint }>(`SELECT count(*) AS count FROM ${table}`)
  const [{ count }] = rows as [{ count: bigint }]
  return count.toLocaleString('en')
}
