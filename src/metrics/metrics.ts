import { readFileSync } from 'node:fs'
import { Registry } from '@prometheus-io/client'
import { PACKAGE } from '../../contract/package.ts'
import type { SharedState } from '../shared-memory/shared-state.ts'
import { shareResult } from '../shared-result.ts'
import type { StoreFigures } from '../stores/store-figures.ts'
import type { WebhookFigures } from '../webhooks/webhook-deliveries.ts'
import type { AdminPage } from './admin-server.ts'
import { counter, gauge, type Metric } from './metric.ts'
import { collectProcessMetrics, eventLoopMetrics, processMetrics } from './process-metrics.ts'
import { httpMetrics } from './request-values.ts'
import { storeMetrics } from './store-metrics.ts'
import type { ThreadFigures } from './thread-figures.ts'
import { webhookMetrics } from './webhook-metrics.ts'

/** Where the figures come from. */
export interface MetricSources {
  readonly engine: 'sqlite' | 'postgres'
  readonly threads: readonly ThreadFigures[]
  readonly shared: Pick<
    SharedState,
    'connections' | 'refusedConnections' | 'pipelined' | 'streams' | 'longPolls'
  >
  readonly readStore: () => Promise<StoreFigures>
  readonly readWebhooks: () => readonly WebhookFigures[]
  readonly isReady: () => Promise<boolean>
}

/** How long a page is used. It takes milliseconds of the main thread, and anyone who reaches the port can ask for it. */
const PAGE_LIFETIME_MS = 1000

/** Creates a function that reads all figures, in Prometheus's text format. Requests within a second share them. */
export function metricsPage({
  engine,
  threads,
  shared,
  readStore,
  readWebhooks,
  isReady,
}: MetricSources) {
  const { version }: { version: string } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  // Counts from here on, rather than from the first scrape.
  collectProcessMetrics()
  const requests = threads.flatMap(({ requests = [] }) => requests)
  const read = async (): Promise<AdminPage> => {
    // First, because the check uses a connection too.
    const store = await readStore()
    const ready = await isReady()
    const metrics = [
      ...httpMetrics(requests),
      gauge('plant_store_http_connections', 'Open connections.', [{}, shared.connections.value]),
      ...droppedConnections(shared),
      gauge(
        'plant_store_followers',
        'Requests that wait for changes.',
        [{ type: 'stream' }, shared.streams.value],
        [{ type: 'long-poll' }, shared.longPolls.value],
      ),
      ...storeMetrics(store),
      ...webhookMetrics(readWebhooks()),
      gauge('plant_store_ready', 'Whether the service can serve requests.', [{}, Number(ready)]),
      gauge('plant_store_threads', 'Threads that serve HTTP.', [{}, requests.length]),
      gauge('plant_store_build_info', 'The version and the engine, as labels.', [
        { version, engine },
        1,
      ]),
      ...eventLoopMetrics(threads),
      ...(await processMetrics()),
    ]
    const registry = Registry.aggregate([metrics])
    return { type: registry.contentType, content: await registry.metrics() }
  }
  return shareResult(read, PAGE_LIFETIME_MS)
}

function droppedConnections({ refusedConnections, pipelined }: MetricSources['shared']): Metric[] {
  // A shared counter has 32 bits. Prometheus takes an overflow for a restart.
  return [
    counter(
      'plant_store_dropped_connections_total',
      'Connections closed before all their requests had a response.',
      [{ reason: 'max-connections' }, refusedConnections.value >>> 0],
      [{ reason: 'pipelining' }, pipelined.value >>> 0],
    ),
  ]
}
