import type { OnProblem, Retention } from '../../engine.ts'
import { MissingDatabase, StoreError } from '../../store-error.ts'
import { requireDurable } from '../durability/durability.ts'
import { agreeOnStandbys } from '../durability/required-standbys.ts'
import { ChangeLog } from '../feed/change-log.ts'
import { findObstacle, warnOfObstacle } from '../feed/change-support.ts'
import { toLockWaitMs } from '../plants/lock-wait.ts'
import { migrate, readSchemaVersion } from '../postgres-schema.ts'
import { parseConnectionString } from './connection-string.ts'
import { Connections } from './connections.ts'
import { identifyServer, type ServerProduct } from './server-product.ts'

export interface ServerOptions {
  /** A connection string in libpq's form, with one or more hosts. */
  readonly url: string
  /** Milliseconds that a connection attempt, and each statement, can take. */
  readonly timeout: number
  /** Fail instead of creating the schema in an empty database. */
  readonly mustExist?: boolean
  /** How long to keep changes. Without it, nothing is deleted, and the log stays on or off. */
  readonly retention?: Retention
  /** See StoreOptions. */
  readonly onProblem?: OnProblem
  /** Measure commits, for `figures`. */
  readonly isMeasured?: boolean
  /** How many standbys must have a change before it is acknowledged. */
  readonly requireStandbys?: number | undefined
}

/** A server whose database is ready for use. */
export interface OpenServer {
  readonly connections: Connections
  readonly log: ChangeLog
  readonly product: ServerProduct
  /** About the change feed, for the operator. */
  readonly warnings: readonly string[]
}

/**
 * Connects to a server, verifies its settings, and upgrades the schema.
 *
 * @throws StoreError with a one-line reason if the database cannot be used
 */
export async function openServer({ url, ...options }: ServerOptions): Promise<OpenServer> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout: options.timeout })
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
  { timeout, mustExist = false, retention, onProblem, requireStandbys }: Omit<ServerOptions, 'url'>,
): Promise<OpenServer> {
  await requireDurable(connections)
  const isMissing = mustExist && (await readSchemaVersion(connections)) === 0
  if (isMissing) throw new MissingDatabase('it is empty')
  const product = await identifyServer(connections)
  const obstacle = await findObstacle(connections)
  const isSupported = obstacle === undefined
  const lockWaitMs = toLockWaitMs(timeout)
  await migrate(connections, isSupported, lockWaitMs)
  if (requireStandbys !== undefined) await agreeOnStandbys(connections, product, requireStandbys)
  if (product.isPostgres) connections.guarantee.note(await connections.observe())
  const log = new ChangeLog({ connections, isSupported, lockWaitMs })
  await log.prepare(retention, onProblem)
  return { connections, log, product, warnings: warnOfObstacle(obstacle, retention) }
}
