import { createHistogram } from 'node:perf_hooks'
import { Gauge, type Registry } from '@prometheus-io/client'

const INTERVAL_MS = 20

const NANOSECONDS = 1e9

/**
 * Adds how late the timers of this thread have been since the registry was last read. Unlike that of
 * `monitorEventLoopDelay`, the histogram contains a delay during which it was reset.
 *
 * @param thread its label
 * @returns a function that stops measuring
 */
export function measureEventLoop(registry: Registry, thread: string): () => void {
  const histogram = createHistogram()
  const gauge = (figure: string, description: string, collect = () => {}) =>
    new Gauge({
      name: `nodejs_eventloop_delay_${figure}_seconds`,
      help: `${description} of the event loop's delay since the previous scrape.`,
      labelNames: ['thread'],
      registers: [registry],
      collect,
    })
  const collect = () => {
    const { count, max } = histogram
    mean.set({ thread }, count === 0 ? 0 : histogram.mean / NANOSECONDS)
    p50.set({ thread }, histogram.percentile(50) / NANOSECONDS)
    p99.set({ thread }, histogram.percentile(99) / NANOSECONDS)
    maximum.set({ thread }, max / NANOSECONDS)
    histogram.reset()
  }
  // The registry reads the mean first, which sets all of them.
  const mean = gauge('mean', 'The mean', collect)
  const p50 = gauge('p50', 'The median')
  const p99 = gauge('p99', 'The 99th percentile')
  const maximum = gauge('max', 'The maximum')

  let previous = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const delay = Math.round((now - previous - INTERVAL_MS) * 1e6)
    // The histogram's minimum.
    histogram.record(Math.max(1, delay))
    previous = now
  }, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
