import type { OnProblem, Retention } from '../engine.ts'
import { MissingDatabase, StoreError } from '../store-error.ts'
import { parseConnectionString } from './connection/connection-string.ts'
import { Connections } from './connection/connections.ts'
import { agreeOnStandbys } from './durability/required-standbys.ts'
import { requireDurable } from './durability/server-settings.ts'
import { ChangeLog } from './feed/change-log.ts'
import { migrate, readSchemaVersion } from './postgres-schema.ts'
import { identifyServer, requireSupport, type ServerProduct } from './server-product.ts'

export interface PostgresOptions {
  /** A connection string in libpq's form, with one or more hosts. */
  readonly url: string
  /** Milliseconds that each call can take. */
  readonly timeout: number
  /** Fail instead of creating the schema in an empty database. */
  readonly mustExist?: boolean
  /** Which changes to keep. Without it, nothing is deleted. */
  readonly retention?: Retention
  /** See StoreOptions. */
  readonly onProblem?: OnProblem
  /** Measure commits, for `Store.metrics`. */
  readonly isMeasured?: boolean
  /** How many standbys must have a change before it is acknowledged. */
  readonly requireStandbys?: number | undefined
}

/** A database that is ready for use. */
export interface OpenDatabase {
  readonly connections: Connections
  readonly log: ChangeLog
  readonly product: ServerProduct
}

/**
 * Connects to a server, verifies its settings, and upgrades the schema.
 *
 * @throws StoreError with a one-line reason if the database cannot be used
 */
export async function openDatabase({
  url,
  timeout,
  ...options
}: PostgresOptions): Promise<OpenDatabase> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    return await prepareDatabase(connections, options)
  } catch (cause) {
    await connections.close()
    const { message } = cause as Error
    const Failure = cause instanceof MissingDatabase ? MissingDatabase : StoreError
    throw new Failure(`cannot use the database ${redacted}: ${message}`, { cause })
  }
}

async function prepareDatabase(
  connections: Connections,
  {
    mustExist = false,
    retention,
    onProblem,
    requireStandbys,
  }: Omit<PostgresOptions, 'url' | 'timeout'>,
): Promise<OpenDatabase> {
  await requireDurable(connections)
  const isMissing = mustExist && (await readSchemaVersion(connections)) === 0
  if (isMissing) throw new MissingDatabase('it is empty')
  const product = await identifyServer(connections)
  requireSupport(product, 'plants can be stored only on')
  await migrate(connections)
  await agreeOnStandbys(connections, product, requireStandbys)
  if (product.isSupported) connections.guarantee.note(await connections.observe())
  const log = new ChangeLog(connections)
  await log.prepare(retention, onProblem)
  return { connections, log, product }
}
