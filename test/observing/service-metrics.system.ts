/** The metrics of a whole service. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type PlantStoreOptions, startPlantStore } from '../../src/index.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { formatHead, isFree, openConnection } from '../helpers/network/connection.ts'
import { EventStream } from '../helpers/network/event-stream.ts'
import { createPlant } from '../helpers/service/client.ts'
import { type Metrics, scrape, scrapeUntil } from '../helpers/service/metrics.ts'

/** Starts a service with an admin port, by default on a database in memory. */
async function start(t: Test, options: PlantStoreOptions = {}) {
  const running = await startPlantStore({ adminPort: 0, ...options })
  t.teardown(running.close)
  const { url, token } = running
  return {
    ...running,
    adminUrl: String(running.adminUrl),
    create: (id: number) => createPlant(url, token, { id, name: 'Abies alba Mill.' }),
  }
}

const COMMITS = 'plant_store_commit_duration_seconds_count'
const REQUESTS = 'http_server_request_duration_seconds_count'

t.test('a create moves the metrics of requests and commits', async (t) => {
  const database = join(makeFolder(t, inMemory()), 'plants.db')
  const { adminUrl, create } = await start(t, { database })
  const before = await scrape(adminUrl)
  t.equal(before.value(COMMITS), 0)
  t.equal(before.value(REQUESTS), undefined)
  t.equal((await create(1)).status, 200)
  const labels = {
    http_request_method: 'POST',
    http_route: '/plants',
    http_response_status_code: '200',
  }
  const after = await scrapeUntil(adminUrl, (metrics) => metrics.value(REQUESTS) === 1)
  t.equal(after.value(REQUESTS, labels), 1)
  t.equal(after.value(COMMITS), 1)
  t.equal(after.value('plant_store_commit_changes_sum'), 1)
  t.equal(after.value('plant_store_fsync_duration_seconds_count'), 1)
  t.equal(after.value('plant_store_waiting_changes'), 0)
  t.ok(Number(after.value('plant_store_wal_bytes')) > 0)
  t.ok(Number(after.value('plant_store_database_bytes')) > 0)
  t.ok(Number(after.value('plant_store_disk_free_bytes')) > 0)
  t.ok(Number(after.value('plant_store_disk_size_bytes')) > 0)
})

t.test('open connections are counted', async (t) => {
  const { adminUrl, url } = await start(t)
  const port = Number(new URL(url).port)
  const sockets = [1, 2, 3].map(() => openConnection(t, { port }))
  const count = 'plant_store_http_connections'
  await scrapeUntil(adminUrl, (metrics) => metrics.value(count) === 3)
  for (const socket of sockets) socket.resetAndDestroy()
  await scrapeUntil(adminUrl, (metrics) => metrics.value(count) === 0)
})

t.test('requests that wait for changes are counted', async (t) => {
  const { adminUrl, url, token } = await start(t)
  const port = Number(new URL(url).port)
  const count = (type: string, number: number) =>
    scrapeUntil(adminUrl, (metrics) => metrics.value('plant_store_followers', { type }) === number)
  const poll = openConnection(t, { port })
  poll.write(formatHead({ token }, 'GET /changes?wait=60'))
  await count('long-poll', 1)
  const stream = await EventStream.open(t, { port, token })
  await count('stream', 1)
  poll.resetAndDestroy()
  stream.close()
  await count('long-poll', 0)
  await count('stream', 0)
})

for (const [host, literal] of [
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', '::1'],
] as const) {
  const skip = !(await isFree(literal)) && `${literal} is unavailable on this machine`
  t.test(`connections refused at ${literal} are counted`, { skip }, async (t) => {
    const { adminUrl, url } = await start(t, { host, maxConnections: 1 })
    const port = Number(new URL(url).port)
    const open = openConnection(t, { port })
    await scrapeUntil(adminUrl, (metrics) => metrics.value('plant_store_http_connections') === 1)
    const refused = connect(port, literal).on('error', () => {})
    await new Promise((resolve) => refused.on('close', resolve))
    const dropped = (metrics: Metrics, reason: string) =>
      metrics.value('plant_store_dropped_connections_total', { reason })
    const metrics = await scrapeUntil(
      adminUrl,
      (metrics) => dropped(metrics, 'max-connections') === 1,
    )
    t.equal(dropped(metrics, 'pipelining'), 0)
    open.destroy()
  })
}

t.test('the service, its threads and the process are described', async (t) => {
  const { adminUrl } = await start(t)
  const metrics = await scrape(adminUrl)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.equal(metrics.value('plant_store_build_info', { version, engine: 'sqlite' }), 1)
  t.equal(metrics.value('plant_store_threads'), 1)
  for (const figure of ['mean', 'p50', 'p99', 'max']) {
    const delay = metrics.value(`nodejs_eventloop_delay_${figure}_seconds`, { thread: 'main' })
    t.ok(Number(delay) >= 0 && Number(delay) < 60, `${figure}: ${delay}`)
  }
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'nodejs_version_info',
    'nodejs_heap_size_used_bytes',
  ]) {
    t.ok(Number(metrics.value(name)) > 0, name)
  }
  t.equal(metrics.value('db_client_connection_max'), undefined)
})

t.test('the delay of the event loop is that since the previous scrape', async (t) => {
  const { adminUrl } = await start(t)
  const name = 'nodejs_eventloop_delay_max_seconds'
  // A timer has run, so that Node compares the next one with it.
  await scrapeUntil(
    adminUrl,
    (metrics) => metrics.value('nodejs_eventloop_delay_p50_seconds') !== 0,
  )
  const end = performance.now() + 300
  while (performance.now() < end);
  const delay = Number(
    (await scrapeUntil(adminUrl, (metrics) => Number(metrics.value(name)) > 0.2)).value(name),
  )
  t.ok(delay < 10)
  await scrapeUntil(adminUrl, (metrics) => Number(metrics.value(name)) < 0.2)
})

t.test('a store in memory has no file metrics', async (t) => {
  const { adminUrl, create } = await start(t)
  await create(1)
  const metrics = await scrapeUntil(adminUrl, (metrics) => metrics.value(REQUESTS) === 1)
  t.equal(metrics.value(COMMITS), 1)
  t.equal(metrics.value('plant_store_fsync_duration_seconds_count'), undefined)
  t.equal(metrics.value('plant_store_disk_free_bytes'), undefined)
})

t.test('scrapes within a second share a page', async (t) => {
  const { adminUrl, create } = await start(t)
  const read = async () => (await fetch(`${adminUrl}/metrics`)).text()
  const [one, other] = await Promise.all([read(), read()])
  t.equal(other, one)
  await create(1)
  await scrapeUntil(adminUrl, (metrics) => metrics.value(REQUESTS) === 1)
})

t.test('services in one process have metrics of their own', async (t) => {
  const [one, other] = [await start(t), await start(t)]
  await one.create(1)
  await scrapeUntil(one.adminUrl, (metrics) => metrics.value(REQUESTS) === 1)
  t.equal((await scrape(other.adminUrl)).value(REQUESTS), undefined)
})
