import { readFileSync } from 'node:fs'
import pg from 'pg'
import t from 'tap'
import { DATABASE_IDENTITY } from '../../../src/stores/postgres/feed/change-tables.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { fixture, useEarlierVersion } from '../earlier-version.ts'

/** Ends once the ids of transactions are greater than those in the dump. */
const SPEND_IDS = `
  DO $$ BEGIN
    WHILE pg_current_xact_id()::text::int < 800 LOOP COMMIT; END LOOP;
  END $$`

/** Makes the log belong to this server, as if the changes had been made on it. Otherwise, it would begin again. */
const ADOPT_LOG = `
  UPDATE public.plant_change_log SET seen = pg_current_snapshot(), database = ${DATABASE_IDENTITY}`

t.test('a database of an earlier version works', async (t) => {
  const { emptyDatabase } = await sharedPostgres()
  const database = await emptyDatabase()
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(readFileSync(fixture('postgres.sql'), 'utf8'))
  await client.query(SPEND_IDS)
  await client.query(ADOPT_LOG)
  await useEarlierVersion(t, database, 'postgres', (url) =>
    client.query('UPDATE public.plant_webhooks SET url = $1', [url]),
  )
})
