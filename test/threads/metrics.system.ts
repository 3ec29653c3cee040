/** The metrics of a service with several HTTP threads. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { startPlantStore } from '../../src/index.ts'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { Command } from '../helpers/processes/command.ts'
import { scrapeUntil } from '../helpers/service/metrics.ts'
import { ask, formatRequest, openLines, THREADS } from '../helpers/service/threads.ts'
import type { ThreadCommand } from './thread-control.ts'

const CONTROL = pathToFileURL(join(import.meta.dirname, 'thread-control.ts'))
const REQUESTS = 'http_server_request_duration_seconds_count'
const TOKEN = 'a-token-of-the-environment'

t.test('there is one set of figures for all threads', async (t) => {
  const database = join(makeFolder(t, inMemory()), 'plants.db')
  const options = { adminPort: 0, database, threads: THREADS, lockTimeout: 30_000, token: TOKEN }
  const running = await startPlantStore(options)
  t.teardown(() => running.close())
  const adminUrl = String(running.adminUrl)
  const lines = await openLines(t, { port: Number(new URL(running.url).port) })
  for (const [id, { socket }] of lines.entries()) {
    const create = formatRequest(TOKEN, 'POST /plants', `{"id":${id},"name":"Abies"}`)
    t.equal((await ask(socket, create)).status, 200)
    t.equal((await ask(socket, formatRequest('an-unknown-token', 'GET /plants'))).status, 401)
  }
  const created = { http_route: '/plants', http_response_status_code: '200' }
  const rejected = { http_route: '/plants', http_response_status_code: '401' }
  const metrics = await scrapeUntil(
    adminUrl,
    (metrics) =>
      metrics.value(REQUESTS, created) === THREADS &&
      metrics.value(REQUESTS, rejected) === THREADS &&
      metrics.value('plant_store_ready') === 1,
  )
  t.equal(metrics.find(REQUESTS, created).length, 1)
  t.equal(metrics.value('plant_store_rejected_tokens_total'), THREADS)
  t.equal(metrics.value('plant_store_commit_duration_seconds_count'), THREADS)
  t.equal(metrics.value('plant_store_threads'), THREADS)
  t.equal(metrics.value('plant_store_http_connections'), THREADS)
  const delays = metrics.find('nodejs_eventloop_delay_max_seconds')
  t.same(delays.map(({ labels }) => labels.thread).sort(), ['1', '2', '3', '4', 'main'])
})

t.test('a blocked thread does not block a scrape', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const args = ['--threads=2', '--port=0', '--admin-port=0', '--database', database]
  const command = new Command(t, [...args, '--ready-json'], {
    node: [`--import=${CONTROL}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const [line] = await command.says(/.*\n/)
  const { adminUrl, url } = JSON.parse(line)
  const control = (message: ThreadCommand) => void command.process.send(message)
  await scrapeUntil(adminUrl, (metrics) => metrics.value('plant_store_ready') === 1)
  const requests = 40
  for (let count = 0; count < requests; count++) {
    await fetch(`${url}/health/live`, { headers: { connection: 'close' } })
  }
  await scrapeUntil(adminUrl, (metrics) => metrics.value(REQUESTS) === requests)
  control({ thread: 'plant-http-2', action: 'block' })
  const blocked = await scrapeUntil(adminUrl, (metrics) => metrics.value('plant_store_ready') === 0)
  t.equal(blocked.value(REQUESTS), requests, 'the last known figures of the thread')
  t.equal(blocked.value('plant_store_threads'), 2)
  t.equal((await fetch(`${adminUrl}/health/ready`)).status, 503)
  control({ thread: 'plant-http-2', action: 'release' })
  const metrics = await scrapeUntil(
    adminUrl,
    (metrics) => Number(metrics.value('nodejs_eventloop_delay_max_seconds', { thread: '2' })) > 0.5,
  )
  t.equal(metrics.find('nodejs_eventloop_delay_max_seconds').length, 3)
})
