import pg from 'pg'
import { systemClock } from '../../../core/time/clock.ts'
import { retry } from '../../../core/time/retries.ts'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { StoreError, schemaObstacle } from '../shared/store-error.ts'
import type { Connections } from './connection/connections.ts'
import { TimedOut } from './connection/deadline.ts'
import { EARLIER_NAME } from './connection/hosts.ts'
import { CREATE_PERMISSIONS, REFUSE } from './connection/permissions.ts'
import { CREATE_FEED } from './feed/change-tables.ts'
import { alterTables } from './feed/feed-start.ts'
import { limitLockWait } from './feed/ledger.ts'
import { CREATE_SORT_KEYS } from './plants/sort-keys.ts'

/** Makes records of tokens, settings, webhooks and the restriction, in a table that only one migration at a time can write to. */
const CREATE_RECORDS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS plant_store_records (
     kind text NOT NULL,
     key text NOT NULL,
     alias text,
     value text NOT NULL,
     PRIMARY KEY (kind, key)
   )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS plant_store_records_by_alias ON plant_store_records (kind, alias)
   WHERE alias IS NOT NULL`,
  `DO $do$ BEGIN
     LOCK TABLE plant_store_records IN EXCLUSIVE MODE;
     -- In a new database, or after another replica.
     IF to_regclass('tokens') IS NULL THEN RETURN; END IF;
     INSERT INTO plant_store_records (kind, key, alias, value)
       SELECT 'token', name, encode(selector, 'hex'), json_strip_nulls(json_build_object(
         'digest', encode(digest, 'hex'), 'scopes', string_to_array(scopes, ','),
         'createdAt', created_at, 'expiresAt', expires_at, 'lastUsedAt', last_used_at))::text
       FROM tokens;
     INSERT INTO plant_store_records (kind, key, value)
       SELECT 'setting', name, value FROM plant_store_settings;
     INSERT INTO plant_store_records (kind, key, value)
       SELECT 'webhook', name, json_strip_nulls(json_build_object(
         'url', url, 'events', string_to_array(events, ','), 'secret', secret,
         'previousSecret', previous_secret, 'previousUntil', previous_until,
         'createdAt', created_at))::text
       FROM plant_webhooks;
     INSERT INTO plant_store_records (kind, key, value)
       SELECT 'webhook-progress', name, json_strip_nulls(json_build_object(
         'cursor', cursor, 'attempts', attempts, 'failingSince', failing_since,
         'nextAttemptAt', next_attempt_at, 'pausedAt', paused_at,
         'lastSuccessAt', last_success_at, 'lastFailureAt', last_failure_at,
         'lastFailure', last_failure))::text
       FROM plant_webhooks;
     INSERT INTO plant_store_records (kind, key, value)
       SELECT 'restriction', 'restriction', CASE
         WHEN source IS NOT NULL THEN json_strip_nulls(json_build_object('source', source,
           'cursor', cursor, 'copyFrom', copy_from::text, 'consistentAt', consistent_at))::text
         WHEN cursor IS NULL THEN '"frozen"' ELSE '"ended"' END
       FROM plant_restriction;
     IF to_regproc('refuse_plant_changes') IS NOT NULL THEN ${REFUSE}; END IF;
     DROP TABLE tokens, plant_store_settings, plant_webhooks, plant_restriction;
   END $do$`,
]

/**
 * The statements that create the first schema version in an empty database, without the tables that a later version
 * removes, then those that upgrade each version to the next. Replicas run them concurrently and repeatedly, so each needs
 * `IF NOT EXISTS`, and none can use what another removes. An index entry is limited to about 2.7 kB, so the index on tags
 * is on their hash.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text, fields text)',
    'CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (md5(tag), id) WHERE tag IS NOT NULL',
    ...CREATE_FEED,
  ],
  CREATE_RECORDS,
  [CREATE_PERMISSIONS],
  CREATE_SORT_KEYS,
]

/** The version of the schema that the first statements create. */
export const FIRST_VERSION = 12

/** The first version with records. */
export const RECORDS_VERSION = 13

/** The first version with indexes for sorting. */
export const SORT_KEYS_VERSION = 15

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length - 1

const VERSIONS = 'CREATE TABLE IF NOT EXISTS plant_store_schema (version int PRIMARY KEY)'

/**
 * Codes that concurrent migrations cause (unique_violation, duplicate_table, duplicate_object): `IF NOT EXISTS` is
 * racy.
 */
const RACE = /^(23505|42P07|42710)$/
const ATTEMPTS_MAX = 100
const DELAY_MS = 10

/** How long a statement can take while the server responds: a replica waits for those that began before it. */
const WAIT_MS_MAX = 60_000

const CREATING = 'another transaction is creating its schema'
const IN_USE = 'its schema cannot be upgraded while another transaction is using the plants'

/**
 * Creates the schema, or upgrades it to the last of the migrations. Safe to run on several replicas at once.
 *
 * @throws StoreError if the schema cannot be upgraded, or the database belongs to another program
 */
export async function migrate(connections: Connections, migrations = MIGRATIONS): Promise<void> {
  const version = await readSchemaVersion(connections)
  const last = FIRST_VERSION + migrations.length - 1
  const obstacle = findSchemaObstacle(version, last)
  if (obstacle !== undefined) throw new StoreError(obstacle)
  if (version === last) return
  if (version > 0 && version < RECORDS_VERSION) await requireNoEarlier(connections)
  // Nobody uses the plants before the schema is complete. Later, a statement that waits for them would block others.
  const isCreating = version === 0
  const apply = (statement: string) =>
    repeatAfterRaces(connections, isCreating, () =>
      connections.unverifiedTransaction(async (run) => {
        await limitLockWait(run, connections.lockWaitMs)
        await alterTables(run, statement, isCreating ? CREATING : IN_USE)
      }),
    )
  await apply(VERSIONS)
  for (const [index, statements] of migrations.entries()) {
    const next = FIRST_VERSION + index
    if (next <= version) continue
    for (const statement of statements) await apply(statement)
    // One row for each version: locks.ts uses the first.
    await apply(
      `INSERT INTO plant_store_schema SELECT generate_series(1, ${next}) ON CONFLICT DO NOTHING`,
    )
  }
}

/** Earlier versions cannot use records, and would fail until they are stopped. */
async function requireNoEarlier(connections: Connections): Promise<void> {
  const earlier = await connections.query(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
    [EARLIER_NAME],
  )
  if (earlier.length === 0) return
  throw new StoreError(
    'its schema cannot be upgraded while an earlier version of plant-store is connected: stop all its processes first',
  )
}

/** Why a schema version cannot be used or upgraded to the last one; undefined if it can. */
export function findSchemaObstacle(version: number, last = SCHEMA_VERSION): string | undefined {
  return version === 0 ? undefined : schemaObstacle(version, FIRST_VERSION, last)
}

/**
 * The schema version of a database; 0 if it has none.
 *
 * @throws StoreError if a table of another program has one of our names
 */
export async function readSchemaVersion(connections: Connections): Promise<number> {
  const tables = await connections.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_name IN ('plant_store_schema', 'plants', 'tokens')`,
  )
  const names = tables.map(({ table_name }) => table_name)
  if (!names.includes('plant_store_schema')) {
    if (names.length === 0) return 0
    throw new StoreError(`its table ${names[0]} belongs to another program`)
  }
  const [row] = await connections.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM plant_store_schema',
  )
  return row?.version ?? 0
}

/**
 * Runs a statement of a migration, and repeats it if another replica interferes. A wait for that replica does not mean
 * that the server is down.
 */
async function repeatAfterRaces(
  connections: Connections,
  isCreating: boolean,
  apply: () => Promise<unknown>,
): Promise<void> {
  const isRace = (error: unknown) =>
    error instanceof pg.DatabaseError && RACE.test(String(error.code))
  const isWait = (error: unknown) =>
    error instanceof TimedOut ||
    (isCreating && error instanceof StoreUnavailable && error.reason === 'busy')
  const until = systemClock.monotonic() + WAIT_MS_MAX
  for (;;) {
    try {
      await retry(apply, {
        attempts: ATTEMPTS_MAX,
        delayMs: DELAY_MS,
        delayAfter: (error) => (isRace(error) ? 0 : undefined),
      })
      return
    } catch (error) {
      if (!isWait(error) || systemClock.monotonic() > until) throw error
      // Fails if the server is down.
      await readSchemaVersion(connections)
    }
  }
}
