import type { Chart } from './chart.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { FIGURES, formatFigures } from './report.ts'
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
    const ceiling = results.find(({ subject }) => subject === 'ceiling')?.perSecond ?? Number.NaN
    return results.map((result) => ({ ...result, ratio: result.perSecond / ceiling }))
  })
}

/** The rows of the table of results, starting with the header. */
export function toTable(results: readonly Result[]): string[][] {
  const rows = results.map((result) => {
    const { kind, subject, ratio } = result
    return [kind, subject, formatRatio(ratio), ...formatFigures(result)]
  })
  return [['load', 'subject', 'ratio', ...FIGURES], ...rows]
}

const COLORS: Record<SubjectName, string> = {
  ceiling: '#b8c0cc',
  'commit each': '#d9774b',
  'commit each, NORMAL': '#e8b84a',
  'plant store': '#2f855a',
}

/** Charts requests per second, with a group for each kind of load. */
export function toChart(results: readonly Result[], subtitle: string): Chart {
  const subjects = [...new Set(results.map(({ subject }) => subject))]
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  return {
    title: 'Requests per second, and the ratio to a bare Fastify that stores nothing',
    subtitle,
    series: subjects.map((name) => ({ title: SUBJECTS[name].title, color: COLORS[name] })),
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
