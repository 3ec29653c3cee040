import { StoreError } from '../../shared/store-error.ts'
import type { Connections } from '../connection/connections.ts'
import { formatStandbys } from '../connection/standby-guarantee.ts'

const FIND = `SELECT value FROM plant_store_settings WHERE name = 'require_standbys'`
const ADD = `
  INSERT INTO plant_store_settings (name, value) VALUES ('require_standbys', $1)
  ON CONFLICT (name) DO NOTHING`
const REPLACE = `
  INSERT INTO plant_store_settings (name, value) VALUES ('require_standbys', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/**
 * Stores the number of standbys that must have a change before it is acknowledged, unless there is one.
 *
 * @param required undefined if the stored number applies
 * @throws StoreError if another number is stored
 */
export async function agreeOnStandbys(connections: Connections, required?: number): Promise<void> {
  if (required === undefined) return
  // Another replica may store its number first.
  const stored = (await find(connections)) ?? (await addAndFind(connections, required))
  if (stored === required) return
  throw new StoreError(
    `it requires changes to be on ${formatStandbys(stored)}, but --require-standbys is ${required}: ` +
      `start all replicas with --require-standbys ${stored}, or change the stored number with ` +
      `plant-store require-standbys ${required}`,
  )
}

/** Replaces the stored number. Running replicas adopt it. */
export async function replaceRequiredStandbys(
  connections: Connections,
  required: number,
): Promise<void> {
  await connections.query(REPLACE, [required])
}

async function addAndFind(connections: Connections, required: number): Promise<number> {
  await connections.query(ADD, [required])
  return Number(await find(connections))
}

async function find(connections: Connections): Promise<number | undefined> {
  const [row] = await connections.query<{ value: string }>(FIND)
  return row && Number(row.value)
}
