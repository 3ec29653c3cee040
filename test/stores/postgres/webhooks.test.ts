import pg from 'pg'
import t from 'tap'
import { WEBHOOK_LEASE_MS } from '../../../service/webhook-store.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { testLeases } from '../webhook-suite.ts'

t.test('a lease expires, and excludes earlier versions', async (t) => {
  const { emptyDatabase } = await sharedPostgres()
  const url = await emptyDatabase()
  const store = await PostgresStore.open({ url, timeout: 10_000 })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await store.close()
  })
  const change = async (sql: string, values: unknown[]) => {
    await client.query(sql, values)
  }
  await testLeases(t, store, {
    shift: (milliseconds) =>
      change('UPDATE plant_webhooks SET owner_until = owner_until + $1', [milliseconds]),
    leaseOne: (name, owner) =>
      change('UPDATE plant_webhooks SET owner = $1, owner_until = $2 WHERE name = $3', [
        owner,
        Date.now() + WEBHOOK_LEASE_MS,
        name,
      ]),
  })
})
