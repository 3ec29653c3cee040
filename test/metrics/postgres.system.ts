/** The metrics of a service on PostgreSQL. */
import t from 'tap'
import { errorCodes } from '../../contract/error-codes.gen.ts'
import { startPlantStore } from '../../src/index.ts'
import { startPostgres } from '../../tools/postgres/server.ts'
import { createPlant } from '../helpers/client.ts'
import { type Metrics, scrape, scrapeUntil } from '../helpers/metrics.ts'

// A server of its own, which the last test stops.
const { server, emptyDatabase } = await startPostgres(t)

const running = await startPlantStore({ adminPort: 0, database: await emptyDatabase(), threads: 2 })
t.teardown(() => running.close())
const { url, token } = running
const adminUrl = String(running.adminUrl)

t.test('commits and connections are measured', async (t) => {
  t.equal((await createPlant(url, token, { id: 1, name: 'a' })).status, 200)
  const metrics = await scrape(adminUrl)
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

t.test('while the server is down, the service is not ready', async (t) => {
  await server.stop()
  t.equal((await createPlant(url, token, { id: 2, name: 'a' })).status, 503)
  // A check that has succeeded counts for a moment.
  const isDown = (metrics: Metrics) => metrics.value('plant_store_ready') === 0
  const metrics = await scrapeUntil(adminUrl, isDown)
  const reason = 'store-unavailable'
  t.equal(metrics.value('plant_store_shed_requests_total', { reason }), 1)
  t.equal((await fetch(`${adminUrl}/health/ready`)).status, 503)
  t.equal((await fetch(`${adminUrl}/health/live`)).status, 200)
  await server.start()
})
t.test('while the server does not respond, the service is not ready', async (t) => {
  const database = await emptyDatabase()
  const running = await startPlantStore({ adminPort: 0, database, lockTimeout: 1000 })
  t.teardown(() => running.close())
  server.freeze()
  t.teardown(() => server.thaw())
  for (const url of [running.url, running.adminUrl]) {
    const response = await fetch(`${url}/health/ready`)
    t.match(await response.json(), { error: errorCodes['store-unavailable'].error })
  }
})
