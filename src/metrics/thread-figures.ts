import { createHistogram, type Histogram } from 'node:perf_hooks'
import type { RequestMemory } from './request-metrics.ts'

/** The name of the main thread in figures. HTTP threads have numbers. */
export const MAIN_THREAD = 'main'

/** What a thread measures. Another thread can read it at any time, even while the thread is blocked. */
export interface ThreadFigures {
  readonly thread: string
  /** Undefined if the thread serves no requests. */
  readonly requests?: RequestMemory
  /** How late its timers are, in nanoseconds. */
  readonly eventLoop: Histogram
}

const INTERVAL_MS = 20

/**
 * Measures how late the timers of this thread are. Unlike that of `monitorEventLoopDelay`, the histogram contains a
 * delay during which another thread resets it.
 *
 * @returns the histogram, in nanoseconds, and a function that stops measuring
 */
export function watchEventLoop() {
  const histogram = createHistogram()
  let previous = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const delay = Math.round((now - previous - INTERVAL_MS) * 1e6)
    // The histogram's minimum.
    histogram.record(Math.max(1, delay))
    previous = now
  }, INTERVAL_MS).unref()
  return { histogram, stop: () => clearInterval(timer) }
}
