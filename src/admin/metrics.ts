import { readFileSync } from 'node:fs'
import { Registry } from '@prometheus-io/client'
import { PACKAGE } from '../package.ts'
import type { StoreFigures } from '../stores/store-figures.ts'
import type { ThreadFigures } from '../thread-figures.ts'
import type { Page } from './admin-server.ts'
import { gauge } from './metric.ts'
import { collectProcessMetrics, eventLoopMetrics, processMetrics } from './process-metrics.ts'
import { requestMetrics } from './request-values.ts'
import { storeMetrics } from './store-metrics.ts'

/** Where the figures come from. */
export interface MetricSources {
  readonly engine: 'sqlite' | 'postgres'
  readonly threads: readonly ThreadFigures[]
  /** Open connections. */
  readonly connections: () => number
  readonly readStore: () => Promise<StoreFigures>
  readonly isReady: () => Promise<boolean>
}

/** Creates a function that reads all figures, in Prometheus's text format. */
export function metricsPage({ engine, threads, connections, readStore, isReady }: MetricSources) {
  const { version }: { version: string } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  // Counts from here on, rather than from the first scrape.
  collectProcessMetrics()
  const requests = threads.flatMap(({ requests = [] }) => requests)
  return async (): Promise<Page> => {
    // First, because the check uses a connection too.
    const store = await readStore()
    const ready = await isReady()
    const metrics = [
      ...requestMetrics(requests),
      gauge('plant_store_http_connections', 'Open connections.', [{}, connections()]),
      ...storeMetrics(store),
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
}
