import { collectDefaultMetrics, Registry } from '@prometheus-io/client'
import type { Metrics } from '../stores/shared/store-metrics.ts'

/**
 * The library's metrics that are omitted: of the event loop, because they cover the main thread only, and of active
 * handles, because they list every connection.
 */
const OMITTED = /^nodejs_(eventloop|active)_/

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
export async function processMetrics(): Promise<Metrics> {
  const metrics = await collectProcessMetrics().getMetricsAsJSON()
  // Otherwise the library would omit the start time, because those of several processes cannot be added up.
  return metrics.map((metric) => ({ ...metric, aggregator: 'first' as const }))
}
