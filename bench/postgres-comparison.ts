import type { Chart } from './chart.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { REPLICAS, type ReplicasName } from './replicas.ts'
import { FIGURES, formatFigures, formatShares, SHARES } from './report.ts'
import { count, formatRatio } from './statistics.ts'

/** A run of a subject under a kind of load. */
export interface ComparisonMeasurement {
  readonly kind: string
  readonly subject: ReplicasName
  readonly run: Run
}

interface Result extends Run {
  readonly subject: ReplicasName
  readonly kind: string
  /** Requests per second relative to `insert each`. NaN if that was not measured. */
  readonly ratio: number
  /** Requests per second in each round. */
  readonly rounds: readonly number[]
}

/** The results, grouped by kind of load. */
export function compare(measurements: readonly ComparisonMeasurement[]): Result[] {
  const kinds = Map.groupBy(measurements, ({ kind }) => kind)
  return [...kinds].flatMap(([kind, ofKind]) => {
    const subjects = Map.groupBy(ofKind, ({ subject }) => subject)
    const each = [...subjects].map(([subject, ofSubject]) => {
      const runs = ofSubject.map(({ run }) => run)
      const rounds = runs.map(({ perSecond }) => Math.round(perSecond))
      return { subject, kind, ...summarizeRuns(runs), rounds }
    })
    const usual = each.find(({ subject }) => subject === 'insert each')?.perSecond ?? Number.NaN
    return each.map((result) => ({ ...result, ratio: result.perSecond / usual }))
  })
}

/** The rows of the table of results, starting with the header. */
export function toComparisonTable(results: readonly Result[]): string[][] {
  const rows = results.map((result) => {
    const { kind, subject, ratio } = result
    return [kind, subject, formatRatio(ratio), ...formatFigures(result), ...formatShares(result)]
  })
  return [['load', 'subject', 'ratio', ...FIGURES, ...SHARES], ...rows]
}

export function toComparisonChart(results: readonly Result[], subtitle: string): Chart {
  const subjects = [...new Set(results.map(({ subject }) => subject))]
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  return {
    title: 'Requests per second on PostgreSQL, and the ratio to an INSERT for each request',
    subtitle,
    series: subjects.map((subject) => REPLICAS[subject]),
    groups: [...kinds].map(([title, ofKind]) => ({
      title,
      bars: ofKind.map(({ subject, perSecond, ratio }) => ({
        series: subjects.indexOf(subject),
        value: perSecond,
        label: `${count(perSecond)} ${formatRatio(ratio) && `(${formatRatio(ratio)})`}`,
      })),
    })),
  }
}
