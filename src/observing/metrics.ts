import { readFileSync } from 'node:fs'
import { Gauge, Registry } from '@prometheus-io/client'
import { PACKAGE } from '../../core/package.ts'
import { shareResult } from '../../core/time/shared-result.ts'
import type { Metrics } from '../stores/shared/store-metrics.ts'
import { measureEventLoop } from './event-loop.ts'
import { collectProcessMetrics, processMetrics } from './process-metrics.ts'
import { measureWebhooks, type WebhookFigures } from './webhook-metrics.ts'

/** Where the metrics come from. */
export interface MetricsOptions {
  readonly engine: 'sqlite' | 'postgres'
  /** How many threads serve HTTP. */
  readonly threads: number
  /** Reads the metrics of all threads. */
  readonly readThreads: () => Promise<Metrics>
  readonly readStore: () => Promise<Metrics>
  readonly readWebhooks: () => readonly WebhookFigures[]
  readonly isReady: () => Promise<boolean>
}

/** How long a result is used. It takes milliseconds of the main thread, and anyone who reaches the port can ask for it. */
const RESULT_LIFETIME_MS = 1000

/**
 * Starts to measure the process.
 *
 * @returns a function that reads all metrics, in Prometheus's text format, which requests within a second share; and one
 *   that stops measuring
 */
export function serveMetrics(options: MetricsOptions) {
  const { readThreads, readStore, readWebhooks } = options
  // Counts from here on, rather than from the first scrape.
  collectProcessMetrics()
  const service = new Registry()
  describeService(service, options)
  measureWebhooks(service, readWebhooks)
  const stop = measureEventLoop(service, 'main')
  const read = async () => {
    // First, because the check of the service uses a connection too.
    const store = await readStore()
    const others = [readThreads(), service.getMetricsAsJSON(), processMetrics()]
    const registry = Registry.aggregate([store, ...(await Promise.all(others))])
    return { type: registry.contentType, content: await registry.metrics() }
  }
  return { read: shareResult(read, RESULT_LIFETIME_MS), stop }
}

function describeService(registry: Registry, { engine, threads, isReady }: MetricsOptions): void {
  const { version }: { version: string } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  const registers = [registry]
  new Gauge({
    name: 'plant_store_ready',
    help: 'Whether the service can serve requests.',
    registers,
    async collect() {
      this.set(Number(await isReady()))
    },
  })
  const count = new Gauge({
    name: 'plant_store_threads',
    help: 'Threads that serve HTTP.',
    registers,
  })
  count.set(threads)
  const build = new Gauge({
    name: 'plant_store_build_info',
    help: 'The version and the engine, as labels.',
    labelNames: ['version', 'engine'],
    registers,
  })
  build.set({ version, engine }, 1)
}
