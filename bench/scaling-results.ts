import type { Chart } from './chart.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { FIGURES, formatFigures } from './report.ts'
import { count, formatRatio, percent } from './statistics.ts'

/** What there are several of: threads that serve HTTP, or processes of the service. */
export type Unit = 'HTTP thread' | 'replica'

/** A run with a number of units under a kind of load. */
export interface ScalingMeasurement {
  readonly kind: string
  readonly units: number
  readonly run: Run
}

/** The median of the runs with a number of units under a kind of load. */
export interface ScalingResult extends Run {
  readonly kind: string
  readonly units: number
  /** Requests per second relative to the first number of units. */
  readonly ratio: number
  /** The share of a core that each unit used. */
  readonly used: number
  /** Peak memory of each unit beyond the first number of units, in MiB. NaN for the first number. */
  readonly memoryPerUnit: number
  /** Requests per second in each round. */
  readonly rounds: readonly number[]
}

/** The results, grouped by kind of load. */
export function toResults(
  measurements: readonly ScalingMeasurement[],
  unit: Unit,
): ScalingResult[] {
  const cpu = unit === 'replica' ? 'cpuUs' : 'httpCpuUs'
  const kinds = Map.groupBy(measurements, ({ kind }) => kind)
  return [...kinds].flatMap(([kind, ofKind]) => {
    const numbers = [...Map.groupBy(ofKind, ({ units }) => units)]
    const summaries = numbers.map(([units, ofNumber]) => {
      const runs = ofNumber.map(({ run }) => run)
      const rounds = runs.map(({ perSecond }) => Math.round(perSecond))
      return { kind, units, ...summarizeRuns(runs), rounds }
    })
    return summaries.map((summary) => {
      const { units, perSecond, peakMemory } = summary
      const first = summaries[0] ?? summary
      return {
        ...summary,
        ratio: perSecond / first.perSecond,
        used: (summary[cpu] * perSecond) / 1e6 / units,
        memoryPerUnit: (peakMemory - first.peakMemory) / (units - first.units),
      }
    })
  })
}

/** The rows of the table of results, starting with the header. */
export function toTable(results: readonly ScalingResult[], unit: Unit): string[][] {
  const rows = results.map((result) => {
    const { kind, units, ratio, used, memoryPerUnit } = result
    const memory = Number.isNaN(memoryPerUnit) ? '' : `${memoryPerUnit.toFixed(1)} MiB`
    const use = Number.isNaN(used) ? '' : percent(used)
    return [kind, String(units), formatRatio(ratio), use, ...formatFigures(result), memory]
  })
  return [['load', `${unit}s`, 'ratio', 'core used', ...FIGURES, `per ${unit}`], ...rows]
}

/** From one unit to many. */
const COLORS = ['#b8c0cc', '#e8b84a', '#4a6fa5', '#2f855a']

/** Charts the ratio to the first number of units, because the loads differ too much in requests per second. */
export function toChart(results: readonly ScalingResult[], unit: Unit, subtitle: string): Chart {
  const numbers = [...new Set(results.map(({ units }) => units))]
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  const describe = (units = 1) => `${units} ${unit}${units === 1 ? '' : 's'}`
  return {
    title: `Requests per second by number of ${unit}s, and the ratio to ${describe(numbers[0])}`,
    subtitle,
    series: numbers.map((number, index) => ({
      title: describe(number),
      color: COLORS[index % COLORS.length] ?? '',
    })),
    groups: [...kinds].map(([title, ofKind]) => ({
      title,
      bars: ofKind.map(({ units, perSecond, ratio, p99 }) => ({
        series: numbers.indexOf(units),
        value: ratio,
        label: `${count(perSecond)} (${formatRatio(ratio)}), p99 ${count(p99)} ms`,
      })),
    })),
  }
}
