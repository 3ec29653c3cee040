import pg from 'pg'
import type { Test } from 'tap'
import { Command } from '../helpers/command.ts'

/** Long enough that even on a slow machine no replica gives up waiting for another. */
const PATIENCE = ['--lock-timeout', '1m']

export function startReplica(t: Test, database: string, token: string): Command {
  return new Command(t, ['--port', '0', '--database', database, ...PATIENCE], {
    env: { PLANT_STORE_TOKEN: token },
  })
}

/**
 * Starts replicas on an empty database so that all of them create the first table at the same moment. Resolves to their
 * URLs.
 */
export async function startAtOnce(
  t: Test,
  count: number,
  database: string,
  token: string,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    // The replicas have to wait until this transaction ends.
    await client.query('BEGIN; CREATE TABLE plant_store_schema (version int)')
    const replicas = Array.from({ length: count }, () => startReplica(t, database, token))
    const listening = Promise.all(replicas.map((replica) => replica.listening()))
    const tooEarly = listening.then(() => Promise.reject(new Error('the replicas did not wait')))
    await Promise.race([waitUntilBlocked(client, count), tooEarly])
    await client.query('ROLLBACK')
    return await listening
  } finally {
    await client.end()
  }
}

async function waitUntilBlocked(client: pg.Client, count: number): Promise<void> {
  for (let waiting = 0; waiting < count; ) {
    const { rows } = await client.query(
      `SELECT count(*)::int AS waiting, pg_stat_clear_snapshot() FROM pg_stat_activity
       WHERE application_name = 'plant-store' AND wait_event_type = 'Lock'`,
    )
    waiting = rows[0]?.waiting
  }
}
