import type { Chart } from './figures/chart.ts'
import { count, median, quantile } from './figures/statistics.ts'
import type { Run, Slice } from './measure.ts'
import type { Subject } from './servers/subjects.ts'

/** The median of a subject's slices under a kind of load. */
export interface Result {
  readonly kind: string
  readonly subject: string
  readonly run: Run
  readonly ratios: readonly Ratios[]
  readonly rounds: readonly Pick<Run, (typeof COMPARED)[number]>[]
}

const COMPARED = ['cpuUs', 'httpCpuUs', 'writerCpuUs', 'perSecond'] as const

/** Figures relative to those of another subject in the same round. */
interface Ratios extends Readonly<Record<(typeof COMPARED)[number], Spread>> {
  readonly to: string
}

/** The median and the quartiles of the ratios of all rounds. */
interface Spread {
  readonly low: number
  readonly median: number
  readonly high: number
}

/**
 * The results, grouped by kind of load.
 *
 * @param baselines compared with each subject that follows them
 */
export function summarize(slices: readonly Slice[], baselines: readonly string[]): Result[] {
  return [...Map.groupBy(slices, ({ kind }) => kind)].flatMap(([kind, ofKind]) => {
    const first = ofKind.filter(({ round }) => round === 0)
    const runs = new Map(
      first.map(({ subject }) => {
        const own = ofKind.filter((slice) => slice.subject === subject)
        return [subject, own.map(({ run }) => run)]
      }),
    )
    const subjects = [...runs.keys()]
    return subjects.map((subject, index) => {
      const own = runs.get(subject) ?? []
      const before = subjects.slice(0, index).filter((each) => baselines.includes(each))
      return {
        kind,
        subject,
        run: summarizeRuns(own),
        ratios: before.map((to) => ({ to, ...compare(own, runs.get(to) ?? []) })),
        rounds: own.map(({ cpuUs, httpCpuUs, writerCpuUs, perSecond }) => {
          return { cpuUs, httpCpuUs, writerCpuUs, perSecond }
        }),
      }
    })
  })
}

/** Both lists have the same rounds. */
function compare(own: readonly Run[], others: readonly Run[]): Omit<Ratios, 'to'> {
  const spread = (figure: (typeof COMPARED)[number]): Spread => {
    const ratios = own.map((run, round) => run[figure] / (others[round]?.[figure] ?? Number.NaN))
    return { low: quantile(ratios, 0.25), median: median(ratios), high: quantile(ratios, 0.75) }
  }
  return {
    cpuUs: spread('cpuUs'),
    httpCpuUs: spread('httpCpuUs'),
    writerCpuUs: spread('writerCpuUs'),
    perSecond: spread('perSecond'),
  }
}

/** The median of several runs, but the sum of their failures and the maximum of other programs' load. */
function summarizeRuns(runs: readonly Run[]): Run {
  const of = (figure: keyof Run) => runs.map((run) => run[figure])
  return {
    requests: median(of('requests')),
    perSecond: median(of('perSecond')),
    p50: median(of('p50')),
    p99: median(of('p99')),
    max: Math.max(...of('max')),
    peakMemory: Math.max(...of('peakMemory')),
    failed: of('failed').reduce((sum, failed) => sum + failed, 0),
    httpCpuUs: median(of('httpCpuUs')),
    writerCpuUs: median(of('writerCpuUs')),
    databaseCpuUs: median(of('databaseCpuUs')),
    cpuUs: median(of('cpuUs')),
    loading: median(of('loading')),
    serving: median(of('serving')),
    storing: median(of('storing')),
    others: Math.max(...of('others')),
    idle: median(of('idle')),
  }
}

/** The rows of the table of figures, starting with the header. */
export function toFigures(results: readonly Result[]): string[][] {
  const head = ['load', 'subject', 'requests/s', 'CPU/request', 'HTTP', 'writer', 'database']
  const more = ['HTTP cores', 'cores', 'p50', 'p99', 'memory', 'failed']
  const rows = results.map(({ kind, subject, run }) => {
    const times = [run.cpuUs, run.httpCpuUs, run.writerCpuUs, run.databaseCpuUs].map(formatUs)
    const cores = [run.httpCpuUs, run.cpuUs].map((us) => format((us * run.perSecond) / 1e6))
    const latencies = [run.p50, run.p99].map((time) => `${time.toFixed(2)} ms`)
    const rest = [`${count(run.peakMemory)} MiB`, count(run.failed)]
    return [kind, subject, count(run.perSecond), ...times, ...cores, ...latencies, ...rest]
  })
  return [[...head, ...more], ...rows]
}

/** The rows of the table of ratios, starting with the header. */
export function toRatios(results: readonly Result[]): string[][] {
  const rows = results.flatMap(({ kind, subject, ratios }) =>
    ratios.map((ratio) => [
      kind,
      `${subject} / ${ratio.to}`,
      ...COMPARED.map((figure) => formatSpread(ratio[figure])),
    ]),
  )
  return [['load', 'ratio', 'CPU/request', 'HTTP', 'writer', 'requests/s'], ...rows]
}

function formatSpread({ low, median, high }: Spread): string {
  // A ratio to a subject without such a thread is infinite or zero.
  return median > 0 && Number.isFinite(median)
    ? `${format(median)} (${format(low)}–${format(high)})`
    : ''
}

/** Returns an empty string for NaN. */
function format(number: number): string {
  return Number.isNaN(number) ? '' : number.toFixed(2)
}

function formatUs(microseconds: number): string {
  return microseconds > 0 ? `${microseconds.toFixed(1)} µs` : ''
}

/**
 * Charts a figure, with a group for each kind of load and a bar for each subject.
 *
 * @param length whether bars are as long as the figure or as its ratio to the first subject, where loads differ widely
 */
export function toChart(
  results: readonly Result[],
  subjects: readonly Subject[],
  figure: 'perSecond' | 'cpuUs',
  { title, subtitle, length }: Pick<Chart, 'title' | 'subtitle'> & { length: 'figure' | 'ratio' },
): Chart {
  const names = subjects.map(({ name }) => name)
  return {
    title,
    subtitle,
    series: subjects,
    groups: [...Map.groupBy(results, ({ kind }) => kind)].map(([title, ofKind]) => ({
      title,
      bars: ofKind.map(({ subject, run, ratios: [first] }) => {
        const value = figure === 'cpuUs' ? formatUs(run.cpuUs) : count(run.perSecond)
        const ratio = first?.[figure].median ?? 1
        return {
          series: names.indexOf(subject),
          value: length === 'ratio' ? ratio : run[figure],
          label: `${value} (${format(ratio)})`,
        }
      }),
    })),
  }
}
