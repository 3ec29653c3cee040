/** Metrics of what has not happened yet, or is known elsewhere only. */
import { Registry } from '@prometheus-io/client'
import t from 'tap'
import { measureEventLoop } from '../../src/observing/event-loop.ts'
import { measureWebhooks } from '../../src/observing/webhook-metrics.ts'

t.test('without a measurement since the previous scrape, the delay is 0', async (t) => {
  const registry = new Registry()
  t.teardown(measureEventLoop(registry, 'main'))
  for (const { name, values } of await registry.getMetricsAsJSON()) {
    t.strictSame(values, [{ labels: { thread: 'main' }, value: 0 }], name)
  }
})

t.test('the lag of a webhook is known only to the process that delivers it', async (t) => {
  const figures = { received: 2, failed: 1, isPaused: false }
  const registry = new Registry()
  measureWebhooks(registry, () => [
    { ...figures, name: 'here', lag: 1.5 },
    { ...figures, name: 'elsewhere', lag: undefined },
  ])
  const [deliveries, lag, paused] = await registry.getMetricsAsJSON()
  t.match(deliveries?.values, [
    { labels: { webhook: 'here', result: 'received' }, value: 2 },
    { labels: { webhook: 'here', result: 'failed' }, value: 1 },
    { labels: { webhook: 'elsewhere', result: 'received' }, value: 2 },
    { labels: { webhook: 'elsewhere', result: 'failed' }, value: 1 },
  ])
  t.strictSame(lag?.values, [{ labels: { webhook: 'here' }, value: 1.5 }])
  t.equal(paused?.values.length, 2)
})
