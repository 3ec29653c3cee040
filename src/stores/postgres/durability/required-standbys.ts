import { StoreError } from '../../shared/store-error.ts'
import type { Connections } from '../connection/connections.ts'
import type { Run } from '../connection/pooled-client.ts'
import { formatStandbys } from '../connection/standby-guarantee.ts'
import { readSetting, replaceSetting } from './stored-settings.ts'

const NAME = 'require_standbys'
const REPLACE = `
  INSERT INTO plant_store_settings (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/**
 * Stores the number of standbys that must have a change before it is acknowledged, unless there is one.
 *
 * @param required undefined if the stored number applies
 * @throws StoreError if another number is stored
 */
export async function agreeOnStandbys(connections: Connections, required?: number): Promise<void> {
  if (required === undefined) return
  const run: Run = (text, values) => connections.query(text, values)
  // Another replica may store its number first.
  const stored = (await find(run)) ?? (await addAndFind(run, required))
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
  await connections.query(REPLACE, [NAME, required])
}

async function addAndFind(run: Run, required: number): Promise<number> {
  await replaceSetting(run, NAME, undefined, String(required))
  return Number(await find(run))
}

async function find(run: Run): Promise<number | undefined> {
  const value = await readSetting(run, NAME)
  return value === undefined ? undefined : Number(value)
}
