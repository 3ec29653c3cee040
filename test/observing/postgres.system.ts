/** The metrics of a service on PostgreSQL. */
import t from 'tap'
import { startPlantStore } from '../../src/index.ts'
import { createPlant } from '../helpers/service/client.ts'
import { scrape } from '../helpers/service/metrics.ts'
import { sharedPostgres } from '../helpers/service/shared-postgres.ts'

t.test('commits and connections are measured', async (t) => {
  const { emptyDatabase } = await sharedPostgres()
  const database = await emptyDatabase()
  const { url, token, adminUrl, close } = await startPlantStore({
    adminPort: 0,
    database,
    threads: 2,
  })
  t.teardown(close)
  t.equal((await createPlant(url, token, { id: 1, name: 'a' })).status, 200)
  const metrics = await scrape(String(adminUrl))
  t.equal(metrics.value('plant_store_build_info', { engine: 'postgres' }), 1)
  t.equal(metrics.value('plant_store_threads'), 1)
  t.equal(metrics.value('plant_store_commit_duration_seconds_count'), 1)
  t.equal(metrics.value('plant_store_commit_changes_sum'), 1)
  t.equal(metrics.value('db_client_connection_max'), 10)
  t.ok(Number(metrics.value('db_client_connections')) >= 1)
  // The search for webhooks can be using one.
  t.ok(Number(metrics.value('db_client_connections', { state: 'used' })) <= 1)
  t.equal(metrics.value('db_client_connection_pending_requests'), 0)
  t.equal(metrics.value('plant_store_wal_bytes'), undefined)
  t.equal(metrics.value('plant_store_ready'), 1)
})
