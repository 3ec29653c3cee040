import { messageOf } from '../../system/user-errors.ts'
import type { OnProblem, Retention } from '../shared/engine.ts'
import type { PlantReader } from '../shared/store.ts'
import { MissingDatabase, olderSchemaMessage, StoreError } from '../shared/store-error.ts'
import { parseConnectionString } from './connection/connection-string.ts'
import { Connections } from './connection/connections.ts'
import { plantReads } from './connection/permissions.ts'
import { one, type Run } from './connection/pooled-client.ts'
import { PostgresFeed } from './feed/postgres-feed.ts'
import { exportPlants, getPlants, listPlants } from './plants/reads.ts'
import {
  findSchemaObstacle,
  migrate,
  readSchemaVersion,
  SCHEMA_VERSION,
} from './postgres-schema.ts'
import { findRecord } from './records/records.ts'
import { agreeOnStandbys, replaceRequiredStandbys } from './records/required-standbys.ts'
import { requireDurable } from './records/server-settings.ts'

/** The oldest supported major version: the first with `xid8` and `pg_snapshot`. */
const VERSION_MIN = 13

/**
 * The result of `version()`: a number, and the name of a distribution that does not change PostgreSQL, such as
 * `(Debian 15.14-0+deb12u1)`. Forks have other numbers, or other text after the number.
 */
const POSTGRES =
  /^PostgreSQL (\d+)(?:\.\d+|(?:devel|beta|rc)\d*)*(?: \([^)]*\)| - [^,]*)?(?: on |, )/

interface ServerOptions {
  /** A connection string in libpq's form, with one or more hosts. */
  readonly url: string
  /** Milliseconds that each call can take. */
  readonly timeout: number
}

export interface PostgresOptions extends ServerOptions {
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
  /** See StoreOptions. */
  readonly readsIncomplete?: boolean
}

/** A database that is ready for use. */
export interface OpenDatabase {
  readonly connections: Connections
  readonly feed: PostgresFeed
  /** Runs statements that read plants. */
  readonly readPlants: Run
}

/**
 * Connects to a server, verifies its settings, and upgrades the schema.
 *
 * @throws StoreError with a one-line reason if the database cannot be used
 */
export function openDatabase({ url, timeout, ...options }: PostgresOptions): Promise<OpenDatabase> {
  return connect({ url, timeout }, (connections) => prepareDatabase(connections, options))
}

/** See Engine.openReader. */
export function openReader(server: ServerOptions): Promise<PlantReader> {
  return connect(server, async (connections) => {
    await requirePostgres(connections)
    const version = await readSchemaVersion(connections)
    if (version === 0) throw new MissingDatabase('it is empty')
    if (version !== SCHEMA_VERSION) {
      throw new StoreError(
        findSchemaObstacle(version) ?? olderSchemaMessage(version, SCHEMA_VERSION),
      )
    }
    const run: Run = (text, values) => connections.query(text, values)
    return {
      getAll: (ids) => getPlants(run, ids),
      list: (request) => listPlants(run, request),
      exportPlants: () => connections.readSnapshot((snapshot) => exportPlants(snapshot, false)),
      findRecord: (kind, key) => findRecord(run, kind, key),
      close: () => connections.close(),
    }
  })
}

/**
 * Connects to a server. Closes the connections if `prepare` fails.
 *
 * @throws StoreError with a one-line reason
 */
async function connect<Result>(
  { url, timeout }: ServerOptions,
  prepare: (connections: Connections) => Promise<Result>,
): Promise<Result> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    return await prepare(connections)
  } catch (cause) {
    await connections.close()
    const Failure = cause instanceof MissingDatabase ? MissingDatabase : StoreError
    throw new Failure(`cannot use the database ${redacted}: ${messageOf(cause)}`, { cause })
  }
}

async function prepareDatabase(
  connections: Connections,
  {
    mustExist = false,
    retention,
    onProblem,
    requireStandbys,
    readsIncomplete,
  }: Omit<PostgresOptions, keyof ServerOptions>,
): Promise<OpenDatabase> {
  await requirePostgres(connections)
  await requireDurable(connections)
  const isMissing = mustExist && (await readSchemaVersion(connections)) === 0
  if (isMissing) throw new MissingDatabase('it is empty')
  await migrate(connections)
  await agreeOnStandbys(connections, requireStandbys)
  connections.guarantee.note(await connections.observe())
  connections.damage.onProblem = onProblem
  const readPlants = plantReads(connections, readsIncomplete)
  const feed = new PostgresFeed(connections, readPlants)
  await feed.prepare(retention, onProblem)
  return { connections, feed, readPlants }
}

/**
 * Replaces the number of standbys that must have a change before it is acknowledged. Running replicas adopt it.
 *
 * @throws StoreError with a one-line reason if the database cannot be used
 */
export async function changeRequiredStandbys(
  { url, timeout }: ServerOptions,
  required: number,
): Promise<void> {
  const { urls, redacted } = parseConnectionString(url)
  const connections = new Connections({ urls, timeout })
  try {
    if ((await readSchemaVersion(connections)) === 0) throw new StoreError('it is empty')
    await migrate(connections)
    await replaceRequiredStandbys(connections, required)
  } catch (cause) {
    throw new StoreError(`cannot use the database ${redacted}: ${messageOf(cause)}`, { cause })
  } finally {
    await connections.close()
  }
}

/** @throws StoreError that names the server if it is not a supported version of PostgreSQL */
export async function requirePostgres(connections: Connections): Promise<void> {
  const rows = await connections.query<{ version: string }>('SELECT version() AS version')
  const server = findUnsupported(one(rows).version)
  if (server === undefined) return
  throw new StoreError(
    `the server is ${server}, but only PostgreSQL ${VERSION_MIN} or later is supported`,
  )
}

/**
 * The name of a server that is not supported, such as `PostgreSQL 12.22`; undefined if it is.
 *
 * @param version the result of `version()`
 */
export function findUnsupported(version: string): string | undefined {
  const [, major = 0] = POSTGRES.exec(version) ?? []
  if (Number(major) >= VERSION_MIN) return undefined
  return version.split(/ on | \(|, /, 1)[0]
}
