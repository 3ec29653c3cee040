import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { newerSchemaMessage, StoreError } from '../store-error.ts'
import type { Connections } from './connection/connections.ts'
import { CHANGE_MIGRATIONS, CREATE_TRIGGERS } from './feed/change-tables.ts'
import { createTriggers } from './feed/log-start.ts'
import { CREATE_RESTRICTION } from './plants/postgres-restriction.ts'

const CREATE_SETTINGS =
  'CREATE TABLE IF NOT EXISTS plant_store_settings (name text PRIMARY KEY, value text NOT NULL)'

/**
 * The statement that upgrades each schema version to the next, starting from an empty database. Replicas run these
 * concurrently and repeatedly, so each needs `IF NOT EXISTS`. An index entry is limited to about 2.7 kB, so the index is
 * on a hash of the tag.
 */
const MIGRATIONS = [
  'CREATE TABLE IF NOT EXISTS plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)',
  'CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (md5(tag), id) WHERE tag IS NOT NULL',
  `CREATE TABLE IF NOT EXISTS tokens (
     name text PRIMARY KEY,
     selector bytea NOT NULL,
     digest bytea NOT NULL,
     scopes text NOT NULL,
     created_at bigint NOT NULL,
     expires_at bigint,
     last_used_at bigint
   )`,
  'CREATE INDEX IF NOT EXISTS tokens_by_selector ON tokens (selector)',
  ...CHANGE_MIGRATIONS,
  `CREATE TABLE IF NOT EXISTS plant_webhooks (
     name text PRIMARY KEY,
     url text NOT NULL,
     events text NOT NULL,
     secret text NOT NULL,
     previous_secret text,
     previous_until bigint,
     created_at bigint NOT NULL,
     cursor text,
     attempts bigint NOT NULL DEFAULT 0,
     failing_since bigint,
     next_attempt_at bigint,
     paused_at bigint,
     last_success_at bigint,
     last_failure_at bigint,
     last_failure text,
     owner text,
     owner_until bigint
   )`,
  CREATE_SETTINGS,
  CREATE_RESTRICTION,
]

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The first schema version with the change log. */
export const CHANGES_VERSION = MIGRATIONS.indexOf(CREATE_TRIGGERS) + 1

/** The first schema version with the table of settings. */
export const SETTINGS_VERSION = MIGRATIONS.indexOf(CREATE_SETTINGS) + 1

const VERSIONS = 'CREATE TABLE IF NOT EXISTS plant_store_schema (version int PRIMARY KEY)'

/**
 * Codes that concurrent migrations cause (unique_violation, duplicate_table, duplicate_object): `IF NOT EXISTS` is
 * racy.
 */
const RACE = /^(23505|42P07|42710)$/
const ATTEMPTS_MAX = 100
const PAUSE_MS = 10

/**
 * Upgrades the schema to SCHEMA_VERSION. Safe to run on several replicas at once.
 *
 * @throws StoreError if the schema is newer, or the database belongs to another program
 */
export async function migrate(connections: Connections): Promise<void> {
  const version = await readSchemaVersion(connections)
  if (version > SCHEMA_VERSION) throw new StoreError(newerSchemaMessage(version, SCHEMA_VERSION))
  const run = (statement: string) => runMigration(() => connections.query(statement))
  if (version < SCHEMA_VERSION) await run(VERSIONS)
  // Without permission for the log, earlier commits created the other tables alone.
  const lacksLog = version > 0 && (await lacksChangeLog(connections))
  for (const [index, statement] of MIGRATIONS.entries()) {
    const isDue = index >= version || (lacksLog && CHANGE_MIGRATIONS.includes(statement))
    if (isDue && statement === CREATE_TRIGGERS)
      await runMigration(() => createTriggers(connections))
    else if (isDue) await run(statement)
    if (index < version) continue
    await run(`INSERT INTO plant_store_schema VALUES (${index + 1}) ON CONFLICT DO NOTHING`)
  }
}

async function lacksChangeLog(connections: Connections): Promise<boolean> {
  const missing = await connections.query("SELECT WHERE to_regclass('plant_change_log') IS NULL")
  return missing.length > 0
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

/** Runs a migration, and repeats it if another replica interferes. */
async function runMigration(run: () => Promise<unknown>, attempts = ATTEMPTS_MAX): Promise<void> {
  try {
    await run()
  } catch (error) {
    const raced = error instanceof pg.DatabaseError && RACE.test(String(error.code))
    if (!raced || attempts === 1) throw error
    await setTimeout(PAUSE_MS)
    await runMigration(run, attempts - 1)
  }
}
