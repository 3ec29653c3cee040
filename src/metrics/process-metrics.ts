import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import { gauge, type Metric } from './metric.ts'
import type { ThreadFigures } from './thread-figures.ts'

/**
 * Those of the library's metrics that are left out: of the event loop, because they cover the main thread only, and of
 * active handles, because they list every connection.
 */
const OMITTED = /^nodejs_(eventloop|active)_/

const NANOSECONDS = 1e9

/** Slows down the timers of the omitted metrics. In milliseconds. */
const RARELY = 60_000

let registry: Registry | undefined

/** Sets up the library's metrics of the process, once, because it cannot stop observing the garbage collector. */
export function collectProcessMetrics(): Registry {
  if (registry !== undefined) return registry
  registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: RARELY,
    eventLoopUtilizationTimeout: RARELY,
  })
  for (const { name } of registry.getMetricsAsArray()) {
    if (OMITTED.test(name)) registry.removeSingleMetric(name)
  }
  return registry
}

/** The library's metrics of the process and, for memory and garbage collection, of the main thread. */
export async function processMetrics(): Promise<Metric[]> {
  const metrics = await collectProcessMetrics().getMetricsAsJSON()
  // Otherwise the library would omit the start time, because those of several processes cannot be added up.
  return metrics.map((metric) => ({ ...metric, aggregator: 'first' }) as Metric)
}

/** How late timers were in each thread since the previous call. */
export function eventLoopMetrics(threads: readonly ThreadFigures[]): Metric[] {
  const delays = threads.map(({ thread, eventLoop }) => {
    const { count, mean, max } = eventLoop
    const [p50, p99] = [eventLoop.percentile(50), eventLoop.percentile(99)]
    eventLoop.reset()
    return { thread, mean: count === 0 ? 0 : mean, max, p50, p99 }
  })
  const toMetric = (figure: 'mean' | 'max' | 'p50' | 'p99', description: string) =>
    gauge(
      `nodejs_eventloop_delay_${figure}_seconds`,
      `${description} of the event loop's delay since the previous scrape.`,
      ...delays.map(
        ({ thread, [figure]: nanoseconds }) => [{ thread }, nanoseconds / NANOSECONDS] as const,
      ),
    )
  return [
    toMetric('mean', 'The mean'),
    toMetric('p50', 'The median'),
    toMetric('p99', 'The 99th percentile'),
    toMetric('max', 'The maximum'),
  ]
}
