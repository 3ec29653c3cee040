import { messageOf } from '../../system/user-errors.ts'
import {
  type CheckResult,
  countFinding,
  type Finding,
  fault,
  OWN_DATABASE,
  ok,
  schemaFinding,
  tokensFinding,
} from '../shared/check-result.ts'
import { StoreError } from '../shared/store-error.ts'
import { parseConnectionString } from './connection/connection-string.ts'
import { Connections } from './connection/connections.ts'
import { one, type Run } from './connection/pooled-client.ts'
import { countStandbys, findViolation, parseRequired } from './connection/standby-guarantee.ts'
import { readFeedState } from './feed/ledger.ts'
import { checkIndexes } from './plants/sort-key-check.ts'
import { type PostgresOptions, requirePostgres } from './postgres-database.ts'
import {
  findSchemaObstacle,
  RECORDS_VERSION,
  readSchemaVersion,
  SCHEMA_VERSION,
  SORT_KEYS_VERSION,
} from './postgres-schema.ts'
import { listRecords } from './records/records.ts'
import { findUnsafeSetting, readSettings } from './records/server-settings.ts'

type Check = (connections: Connections) => Promise<Finding | Finding[]>

const UNDEFINED_TABLE = '42P01'

/** The first versions of the schema with what some checks read. */
const FIRST_VERSIONS = new Map<Check, number>([
  [acknowledged, RECORDS_VERSION],
  [tokens, RECORDS_VERSION],
  [index, SORT_KEYS_VERSION],
])

/** The checks by subject. If the first finds a fault, the others are skipped. */
const CHECKS: Record<string, Check> = {
  kind,
  schema,
  server,
  connection,
  acknowledged,
  tokens,
  plants,
  changes,
  index,
}

/**
 * Verifies a database on a server without changing it; services may be writing to it. The integrity of its pages is
 * left to the server's own tools, such as `pg_amcheck`.
 *
 * @throws StoreError if the check cannot run
 */
export async function* checkDatabase({
  url,
  timeout,
}: PostgresOptions): AsyncGenerator<CheckResult> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    for (const [subject, check] of Object.entries(CHECKS)) {
      const since = FIRST_VERSIONS.get(check)
      if (since !== undefined && (await readSchemaVersion(connections)) < since) continue
      const findings = [await check(connections).catch(reportTable)].flat()
      for (const finding of findings) yield { subject, ...finding }
      if (check === kind && findings.some(({ status }) => status === 'fault')) return
    }
  } catch (cause) {
    throw new StoreError(`cannot check the database ${redacted}: ${messageOf(cause)}`, { cause })
  } finally {
    await connections.close()
  }
}

/** Reports a missing table, or one of another program, as a fault, and rethrows any other error. */
function reportTable(error: Error & { code?: string }): Finding {
  if (error instanceof StoreError || error.code === UNDEFINED_TABLE) return fault(error.message)
  throw error
}

async function kind(connections: Connections): Promise<Finding> {
  await requirePostgres(connections)
  return (await readSchemaVersion(connections)) > 0 ? OWN_DATABASE : fault('it is empty')
}

async function schema(connections: Connections): Promise<Finding> {
  const version = await readSchemaVersion(connections)
  const obstacle = findSchemaObstacle(version)
  return obstacle === undefined ? schemaFinding(version, SCHEMA_VERSION) : fault(obstacle)
}

async function server(connections: Connections): Promise<Finding> {
  const [row] = await connections.query<{ version: string }>('SELECT version() AS version')
  const { server_encoding } = await readSettings(connections)
  return ok(`${row?.version}, text in ${server_encoding}`)
}

async function connection(connections: Connections): Promise<Finding> {
  return ok(connections.encryption)
}

/** The guarantee of an acknowledgement. */
async function acknowledged(connections: Connections): Promise<Finding> {
  const settings = await readSettings(connections)
  const reason = findUnsafeSetting(settings)
  if (reason !== undefined) return fault(reason)
  const observation = await connections.observe()
  const violation = findViolation(parseRequired(observation), observation)
  if (violation !== undefined) return fault(violation.detail)
  const isAlone = countStandbys(settings) === 0
  const standbys = isAlone ? '' : ` and on standbys: ${settings.synchronous_standby_names}`
  return ok(`on the server's disk${standbys}`)
}

async function tokens(connections: Connections): Promise<Finding> {
  const run: Run = (text, values) => connections.query(text, values)
  const { records } = await listRecords(run, ['token'])
  return tokensFinding(records)
}

async function plants(connections: Connections): Promise<Finding> {
  return countFinding(await readCount(connections, 'count(*)', 'plants'))
}

/** The number of retained changes. */
async function changes(connections: Connections): Promise<Finding> {
  const { isObsolete } = await readFeedState(connections)
  if (isObsolete) return ok('of an obsolete feed; the service deletes them on its next start')
  const sum = 'coalesce(sum(cardinality(ids)), 0)::bigint'
  const count = await readCount(connections, sum, 'plant_changes')
  return ok(`${count.toLocaleString('en')} kept`)
}

function index(connections: Connections): Promise<Finding[]> {
  return Array.fromAsync(connections.readSnapshot(checkIndexes))
}

async function readCount(
  connections: Connections,
  expression: string,
  table: string,
): Promise<bigint> {
  const rows = await connections.query<{ count: bigint }>(
    `SELECT ${expression} AS count FROM ${table}`,
  )
  return one(rows).count
}
