import pg from 'pg'
import t from 'tap'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { testLeases } from '../suites/webhook-suite.ts'

t.test('a lease expires', async (t) => {
  const { migratedDatabase } = await sharedPostgres()
  const url = await migratedDatabase()
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await store.close()
  })
  await testLeases(t, store, async (milliseconds) => {
    await client.query(
      `UPDATE plant_store_records
       SET value = jsonb_set(value::jsonb, '{until}', to_jsonb((value::jsonb ->> 'until')::float8 + $1))
       WHERE kind = 'webhook-lease'`,
      [milliseconds],
    )
  })
})
