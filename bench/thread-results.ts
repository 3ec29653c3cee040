import type { Chart } from './chart.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { FIGURES, formatFigures } from './report.ts'
import { count, formatRatio, percent } from './statistics.ts'

export const KINDS = ['read', 'page', 'sequential'] as const
export type Kind = (typeof KINDS)[number]

/** A run of the service with a number of HTTP threads under a kind of load. */
export interface ThreadsMeasurement {
  readonly kind: Kind
  readonly threads: number
  readonly run: Run
}

/** The median of the runs with a number of HTTP threads under a kind of load. */
export interface ThreadsResult extends Run {
  readonly kind: Kind
  readonly threads: number
  /** Requests per second relative to the first number of threads. */
  readonly ratio: number
  /** The share of a core that each HTTP thread used. */
  readonly used: number
  /** Peak memory of each thread beyond the first number of threads, in MiB. NaN for the first number. */
  readonly memoryPerThread: number
  /** Requests per second in each round. */
  readonly rounds: readonly number[]
}

/** The results, grouped by kind of load. */
export function toResults(measurements: readonly ThreadsMeasurement[]): ThreadsResult[] {
  const kinds = Map.groupBy(measurements, ({ kind }) => kind)
  return [...kinds].flatMap(([kind, ofKind]) => {
    const numbers = [...Map.groupBy(ofKind, ({ threads }) => threads)]
    const summaries = numbers.map(([threads, ofNumber]) => {
      const runs = ofNumber.map(({ run }) => run)
      const rounds = runs.map(({ perSecond }) => Math.round(perSecond))
      return { kind, threads, ...summarizeRuns(runs), rounds }
    })
    return summaries.map((summary) => {
      const { threads, perSecond, httpCpuUs, peakMemory } = summary
      const first = summaries[0] ?? summary
      return {
        ...summary,
        ratio: perSecond / first.perSecond,
        used: (httpCpuUs * perSecond) / 1e6 / threads,
        memoryPerThread: (peakMemory - first.peakMemory) / (threads - first.threads),
      }
    })
  })
}

/** The rows of the table of results, starting with the header. */
export function toTable(results: readonly ThreadsResult[]): string[][] {
  const rows = results.map((result) => {
    const { kind, threads, ratio, used, memoryPerThread } = result
    const memory = Number.isNaN(memoryPerThread) ? '' : `${memoryPerThread.toFixed(1)} MiB`
    const use = Number.isNaN(used) ? '' : percent(used)
    return [kind, String(threads), formatRatio(ratio), use, ...formatFigures(result), memory]
  })
  return [['load', 'threads', 'ratio', 'core used', ...FIGURES, 'per thread'], ...rows]
}

/** From one thread to many. */
const COLORS = ['#b8c0cc', '#e8b84a', '#4a6fa5', '#2f855a']

/** Charts the ratio to the first number of threads, because the loads differ too much in requests per second. */
export function toChart(results: readonly ThreadsResult[], subtitle: string): Chart {
  const numbers = [...new Set(results.map(({ threads }) => threads))]
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  return {
    title: `Requests per second by number of HTTP threads, and the ratio to ${describe(numbers[0])}`,
    subtitle,
    series: numbers.map((number, index) => ({
      title: describe(number),
      color: COLORS[index % COLORS.length] ?? '',
    })),
    groups: [...kinds].map(([title, ofKind]) => ({
      title,
      bars: ofKind.map(({ threads, perSecond, ratio, p99 }) => ({
        series: numbers.indexOf(threads),
        value: ratio,
        label: `${count(perSecond)} (${formatRatio(ratio)}), p99 ${count(p99)} ms`,
      })),
    })),
  }
}

function describe(threads = 1): string {
  return threads === 1 ? '1 thread' : `${threads} threads`
}
