import { StoreError } from '../../shared/store-error.ts'
import type { Connections } from '../connection/connections.ts'
import type { Run } from '../connection/pooled-client.ts'
import { formatStandbys } from '../connection/standby-guarantee.ts'
import { findRecord } from './records.ts'

const KEY = 'require_standbys'
const ADD = `
  INSERT INTO plant_store_records (kind, key, value) VALUES ('setting', '${KEY}', $1)
  ON CONFLICT (kind, key)`

/**
 * Stores the number of standbys that must have a change before it is acknowledged, unless there is one.
 *
 * @param required undefined if the stored number applies
 * @throws StoreError if another number is stored
 */
export async function agreeOnStandbys(connections: Connections, required?: number): Promise<void> {
  if (required === undefined) return
  // Another replica may store its number first.
  await connections.query(`${ADD} DO NOTHING`, [required])
  const run: Run = (text, values) => connections.query(text, values)
  const stored = Number((await findRecord(run, 'setting', { key: KEY }))?.value)
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
  await connections.query(`${ADD} DO UPDATE SET value = excluded.value`, [required])
}
