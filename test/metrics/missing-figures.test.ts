/** Metrics of what has not happened yet, or cannot be measured. */
import { createHistogram } from 'node:perf_hooks'
import t from 'tap'
import { eventLoopMetrics } from '../../src/metrics/process-metrics.ts'
import { storeMetrics } from '../../src/metrics/store-metrics.ts'
import { webhookMetrics } from '../../src/metrics/webhook-metrics.ts'

const none = { bounds: [1], counts: [0, 0], sum: 0 }

t.test('without a measurement since the previous scrape, the delay is 0', async (t) => {
  const metrics = eventLoopMetrics([{ thread: 'main', eventLoop: createHistogram() }])
  for (const { name, values } of metrics) {
    t.strictSame(values, [{ labels: { thread: 'main' }, value: 0 }], name)
  }
})

t.test('if the file system does not respond, the other metrics of the file remain', async (t) => {
  const commits = { duration: none, changes: none }
  const file = { sync: none, checkpoint: none, checkpointFailures: 0 }
  const names = storeMetrics({ commits, waitingChanges: 0, file }).map(({ name }) => name)
  t.ok(names.includes('plant_store_fsync_duration_seconds'))
  t.notOk(names.includes('plant_store_disk_free_bytes'))
})

t.test('the lag of a webhook is known only to the process that delivers it', async (t) => {
  const figures = { received: 2, failed: 1, isPaused: false }
  const [deliveries, lag, paused] = webhookMetrics([
    { ...figures, name: 'here', lag: 1.5 },
    { ...figures, name: 'elsewhere', lag: undefined },
  ])
  t.match(deliveries?.values, [
    { labels: { webhook: 'here', result: 'received' }, value: 2 },
    { labels: { webhook: 'here', result: 'failed' }, value: 1 },
    { labels: { webhook: 'elsewhere', result: 'received' }, value: 2 },
    { labels: { webhook: 'elsewhere', result: 'failed' }, value: 1 },
  ])
  t.strictSame(lag?.values, [{ labels: { webhook: 'here' }, value: 1.5 }])
  t.equal(paused?.values.length, 2)
})
