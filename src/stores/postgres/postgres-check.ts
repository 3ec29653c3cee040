import { SELECTOR_BYTES } from '../../../service/token-store.ts'
import {
  type CheckResult,
  countFinding,
  type Finding,
  fault,
  OWN_DATABASE,
  ok,
  schemaFinding,
  tokensFinding,
} from '../check-result.ts'
import { newerSchemaMessage, StoreError } from '../store-error.ts'
import { parseConnectionString } from './connection/connection-string.ts'
import { Connections } from './connection/connections.ts'
import { findUnsafeSetting, readSettings } from './durability/server-settings.ts'
import { countStandbys, findViolation, parseRequired } from './durability/standby-guarantee.ts'
import { readLogState } from './feed/ledger.ts'
import {
  CHANGES_VERSION,
  readSchemaVersion,
  SCHEMA_VERSION,
  SETTINGS_VERSION,
} from './postgres-schema.ts'
import type { ServerOptions } from './server.ts'
import { identifyServer } from './server-product.ts'

/** @param version of the schema */
type Check = (connections: Connections, version: number) => Promise<Finding>

const UNDEFINED_TABLE = '42P01'

/** The checks of a database of ours, by subject. */
const CHECKS: Record<string, Check> = {
  schema,
  server,
  connection,
  acknowledged,
  tokens,
  plants,
  changes,
}

/**
 * Verifies a database on a server without changing it; services may be writing to it. The integrity of its pages is
 * left to the server's own tools, such as `pg_amcheck`.
 *
 * @throws StoreError if the check cannot run
 */
export async function* checkDatabase({ url, timeout }: ServerOptions): AsyncGenerator<CheckResult> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    const { version, kind } = await readSchemaVersion(connections).then(judgeKind, reportForeign)
    yield { subject: 'kind', ...kind }
    if (kind.status === 'fault') return
    for (const [subject, check] of Object.entries(CHECKS)) {
      yield { subject, ...(await check(connections, version).catch(reportMissingTable)) }
    }
  } catch (cause) {
    const message = `cannot check the database ${redacted}: ${(cause as Error).message}`
    throw new StoreError(message, { cause })
  } finally {
    await connections.close()
  }
}

function judgeKind(version: number): { version: number; kind: Finding } {
  return { version, kind: version > 0 ? OWN_DATABASE : fault('it is empty') }
}

/** Reports a table of another program as a fault, and rethrows any other error. */
function reportForeign(error: Error): ReturnType<typeof judgeKind> {
  if (error instanceof StoreError) return { version: 0, kind: fault(error.message) }
  throw error
}

/** Reports a missing table as a fault, and rethrows any other error. */
function reportMissingTable(error: { code?: string; message: string }): Finding {
  if (error.code === UNDEFINED_TABLE) return fault(error.message)
  throw error
}

async function schema(_: Connections, version: number): Promise<Finding> {
  if (version > SCHEMA_VERSION) return fault(newerSchemaMessage(version, SCHEMA_VERSION))
  return schemaFinding(version, SCHEMA_VERSION)
}

async function server(connections: Connections): Promise<Finding> {
  const [row] = await connections.query<{ version: string }>('SELECT version() AS version')
  const { server_encoding } = await readSettings(connections)
  return ok(
    [row?.version, server_encoding && `text in ${server_encoding}`].filter(Boolean).join(', '),
  )
}

async function connection(connections: Connections): Promise<Finding> {
  return ok(connections.encryption)
}

/** What an acknowledgement guarantees. */
async function acknowledged(connections: Connections, version: number): Promise<Finding> {
  const settings = await readSettings(connections)
  const reason = findUnsafeSetting(settings)
  if (reason !== undefined) return fault(reason)
  const { isSupported } = await identifyServer(connections)
  if (isSupported && version >= SETTINGS_VERSION) {
    const observation = await connections.observe()
    const violation = findViolation(parseRequired(observation), observation)
    if (violation !== undefined) return fault(violation.detail)
  }
  const isAlone = countStandbys(settings) === 0
  const standbys = isAlone ? '' : ` and on standbys: ${settings.synchronous_standby_names}`
  return ok(`on the server's disk${standbys}`)
}

async function tokens(connections: Connections): Promise<Finding> {
  const damaged = await connections.query<{ name: string }>(
    `SELECT name FROM tokens WHERE octet_length(digest) <> 32 OR substr(digest, 1, $1) <> selector
     ORDER BY name`,
    [SELECTOR_BYTES],
  )
  const names = damaged.map(({ name }) => name)
  return tokensFinding(names, await readCount(connections, 'count(*)', 'tokens'))
}

async function plants(connections: Connections): Promise<Finding> {
  return countFinding(await readCount(connections, 'count(*)', 'plants'))
}

/** How many changes are kept. */
async function changes(connections: Connections, version: number): Promise<Finding> {
  const { feedObstacle } = await identifyServer(connections)
  if (feedObstacle !== undefined) return ok(`off: ${feedObstacle}`)
  if (version < CHANGES_VERSION) return ok('off until the upgrade')
  const { isOn, isForeign } = await readLogState(connections)
  if (!isOn) return ok('off')
  if (isForeign) {
    return ok('from before the database was restored; the service deletes them on its next start')
  }
  const sum = 'coalesce(sum(cardinality(ids)), 0)::bigint'
  const count = await readCount(connections, sum, 'plant_changes')
  return ok(`${count.toLocaleString('en')} kept`)
}

async function readCount(
  connections: Connections,
  expression: string,
  table: string,
): Promise<bigint> {
  const rows = await connections.query<{ count: bigint }>(
    `SELECT ${expression} AS count FROM ${table}`,
  )
  const [{ count }] = rows as [{ count: bigint }]
  return count
}
