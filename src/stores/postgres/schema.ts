import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { StoreError } from '../store-error.ts'
import type { Connections } from './connections.ts'

/**
 * The statement that leads from each version of the schema to the next one, from nothing to 1 first. Any
 * number of replicas may make it at once and again. A tag may be longer than an entry of an index, so what
 * is indexed is a hash of it.
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
]

/** The version of the schema that this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

const VERSIONS = 'CREATE TABLE IF NOT EXISTS plant_store_schema (version int PRIMARY KEY)'

/**
 * What goes wrong when others do the same at the same time: unique_violation, duplicate_table and
 * duplicate_object. Transactions that the server ends are made again by the connections.
 */
const RACE = /^(23505|42P07|42710)$/
const TRIES = 100

/**
 * Brings the schema to this program's version, from whatever version it has; other replicas may do so at
 * the same time.
 *
 * @throws StoreError if it is the schema of another program, or a newer version than this one knows
 */
export async function migrate(connections: Connections): Promise<void> {
  const version = await versionOf(connections)
  if (version === SCHEMA_VERSION) return
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      `its schema has version ${version}, this program knows up to ${SCHEMA_VERSION}; use a newer one`,
    )
  }
  await once(connections, VERSIONS)
  for (const [index, statement] of MIGRATIONS.entries()) {
    if (index < version) continue
    await once(connections, statement)
    await once(
      connections,
      `INSERT INTO plant_store_schema VALUES (${index + 1}) ON CONFLICT DO NOTHING`,
    )
  }
}

/**
 * The version of the schema that is there; 0 while there is none.
 *
 * @throws StoreError if another program has tables of our names
 */
export async function versionOf(connections: Connections): Promise<number> {
  const tables = await connections.query<{ table_name: string }>(
    `SELECT table_name FROM information_schema.tables
     WHERE table_schema = current_schema() AND table_name IN ('plant_store_schema', 'plants', 'tokens')`,
  )
  const names = tables.map(({ table_name }) => table_name)
  if (!names.includes('plant_store_schema')) {
    if (names.length === 0) return 0
    throw new StoreError(`its table ${names[0]} is of another program`)
  }
  const [row] = await connections.query<{ version: number | null }>(
    'SELECT max(version) AS version FROM plant_store_schema',
  )
  return row?.version ?? 0
}

/** The tables and indexes of a version that are not there, by their names. */
export async function missingObjects(connections: Connections, version: number): Promise<string[]> {
  const wanted = MIGRATIONS.slice(0, version).map(
    (statement) => / IF NOT EXISTS (\w+)/.exec(statement)?.[1] as string,
  )
  const present = await connections.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()
     UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()`,
  )
  const names = new Set(present.map(({ name }) => name))
  return wanted.filter((name) => !names.has(name))
}

async function once(connections: Connections, statement: string, tries = TRIES): Promise<unknown> {
  try {
    return await connections.query(statement)
  } catch (error) {
    const raced = error instanceof pg.DatabaseError && RACE.test(String(error.code))
    if (!raced || tries === 1) throw error
    await setTimeout(10)
    return once(connections, statement, tries - 1)
  }
}
