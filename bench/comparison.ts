import type { Bar, Chart } from './chart.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { FIGURES, formatFigures, formatUs } from './report.ts'
import type { Kind } from './requests.ts'
import { count, formatRatio } from './statistics.ts'
import { SUBJECTS, type SubjectName } from './subjects.ts'

/** A run of a subject under a kind of load. */
export interface Measurement {
  readonly subject: SubjectName
  readonly kind: Kind
  readonly run: Run
}

/** The median of a subject's runs under a kind of load. */
export interface Result extends Run {
  readonly subject: SubjectName
  readonly kind: Kind
  /** Requests per second relative to the ceiling. NaN if the ceiling was not measured. */
  readonly ratio: number
  /** Processor time per request relative to the ceiling. */
  readonly cpuRatio: number
  /** Requests per second in each round. */
  readonly rounds: readonly number[]
}

/** The results, grouped by kind of load. */
export function toResults(measurements: readonly Measurement[]): Result[] {
  const kinds = Map.groupBy(measurements, ({ kind }) => kind)
  return [...kinds].flatMap(([kind, ofKind]) => {
    const subjects = Map.groupBy(ofKind, ({ subject }) => subject)
    const results = [...subjects].map(([subject, ofSubject]) => {
      const runs = ofSubject.map(({ run }) => run)
      const rounds = runs.map(({ perSecond }) => Math.round(perSecond))
      return { subject, kind, ...summarizeRuns(runs), rounds }
    })
    const ceiling = results.find(({ subject }) => subject === 'ceiling')
    const { perSecond = Number.NaN, cpuUs = Number.NaN } = ceiling ?? {}
    return results.map((result) => ({
      ...result,
      ratio: result.perSecond / perSecond,
      cpuRatio: result.cpuUs / cpuUs,
    }))
  })
}

/** The rows of the table of results, starting with the header. */
export function toTable(results: readonly Result[]): string[][] {
  const rows = results.map((result) => {
    const { kind, subject, ratio, cpuRatio } = result
    return [kind, subject, formatRatio(ratio), formatRatio(cpuRatio), ...formatFigures(result)]
  })
  return [['load', 'subject', 'ratio', 'CPU ratio', ...FIGURES], ...rows]
}

const COLORS: Record<SubjectName, string> = {
  ceiling: '#b8c0cc',
  'commit each': '#d9774b',
  'commit each, NORMAL': '#e8b84a',
  'plant store': '#2f855a',
}

/** Charts requests per second and processor time per request, with a group for each kind of load. */
export function toCharts(results: readonly Result[], subtitle: string): Record<string, Chart> {
  const subjects = [...new Set(results.map(({ subject }) => subject))]
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  const chart = (title: string, barOf: (result: Result) => Omit<Bar, 'series'>): Chart => ({
    title,
    subtitle,
    series: subjects.map((name) => ({ title: SUBJECTS[name].title, color: COLORS[name] })),
    groups: [...kinds].map(([title, ofKind]) => ({
      title,
      bars: ofKind.map((result) => ({
        series: subjects.indexOf(result.subject),
        ...barOf(result),
      })),
    })),
  })
  const requests = chart(
    'Requests per second, and the ratio to a bare Fastify that stores nothing',
    ({ perSecond, ratio }) => ({
      value: perSecond,
      label: `${count(perSecond)} ${parenthesize(ratio)}`,
    }),
  )
  if (results.some(({ cpuUs }) => Number.isNaN(cpuUs))) return { '': requests }
  const processorTime = chart(
    'Processor time per request, and the ratio to a bare Fastify (less is better)',
    ({ cpuUs, cpuRatio }) => ({
      value: cpuUs,
      label: `${formatUs(cpuUs)} ${parenthesize(cpuRatio)}`,
    }),
  )
  return { '': requests, '-cpu': processorTime }
}

function parenthesize(ratio: number): string {
  return formatRatio(ratio) && `(${formatRatio(ratio)})`
}
