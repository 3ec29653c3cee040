/** Reads metrics in Prometheus's text format as strictly as its specification allows. */
import { setTimeout } from 'node:timers/promises'

type Labels = Readonly<Record<string, string>>

interface Series {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

const HELP = /^# HELP ([a-z0-9_]+) (\S.*)$/
const TYPE = /^# TYPE ([a-z0-9_]+) (counter|gauge|histogram|summary)$/
const SERIES =
  /^([a-z][a-z0-9_]*)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?|\+Inf|NaN)$/
const LABEL = /([a-z_]+)="((?:[^"\\]|\\["\\n])*)"/g

/** The metrics of one scrape. */
export class Metrics {
  readonly types = new Map<string, string>()
  readonly series: readonly Series[]

  /** @throws if the text is malformed, repeats a series, or contains an inconsistent histogram */
  constructor(text: string) {
    const series: Series[] = []
    const seen = new Set<string>()
    let help: string | undefined
    for (const line of text.trimEnd().split('\n')) {
      if (line === '') continue
      if (line.startsWith('# HELP')) {
        help = match(HELP, line)[1]
      } else if (line.startsWith('#')) {
        const [, name = '', type = ''] = match(TYPE, line)
        if (name !== help || this.types.has(name)) throw new Error(`out of place: ${line}`)
        this.types.set(name, type)
      } else {
        const [, name = '', labels = '', value] = match(SERIES, line)
        const key = line.replace(/ \S+$/, '')
        if (seen.has(key)) throw new Error(`repeated: ${line}`)
        seen.add(key)
        const base = name.replace(/_(bucket|sum|count)$/, '')
        if (this.types.get(name) === undefined && this.types.get(base) === undefined) {
          throw new Error(`without a type: ${line}`)
        }
        series.push({ name, labels: parseLabels(labels), value: Number(value) })
      }
    }
    this.series = series
    for (const [name, type] of this.types) if (type === 'histogram') this.#check(name)
  }

  /** The series of a name that have at least these labels. */
  find(name: string, labels: Labels = {}): Series[] {
    return this.series.filter(
      (each) =>
        each.name === name &&
        Object.entries(labels).every(([label, value]) => each.labels[label] === value),
    )
  }

  /** The sum of the series that have at least these labels; undefined if there are none. */
  value(name: string, labels?: Labels): number | undefined {
    const found = this.find(name, labels)
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
  }

  #check(name: string): void {
    for (const { labels, value: count } of this.find(`${name}_count`)) {
      const buckets = this.find(`${name}_bucket`, labels)
      const bounds = buckets.map(({ labels: { le = '' } }) =>
        Number(le.replace('+Inf', 'Infinity')),
      )
      const counts = [...buckets.map(({ value }) => value)]
      const isSorted = (numbers: number[]) =>
        numbers.every((each, index) => index === 0 || each >= (numbers[index - 1] as number))
      const isComplete = bounds.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === count
      if (!isSorted(bounds) || !isSorted(counts) || !isComplete) {
        throw new Error(`inconsistent: ${name} ${JSON.stringify(labels)}`)
      }
    }
  }
}

function match(pattern: RegExp, line: string): RegExpExecArray {
  const found = pattern.exec(line)
  if (found === null) throw new Error(`malformed: ${line}`)
  return found
}

function parseLabels(text: string): Labels {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name, value]) => [name, value]))
}

/** Scrapes a service. */
export async function scrape(adminUrl: string): Promise<Metrics> {
  const response = await fetch(`${adminUrl}/metrics`)
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  const type = response.headers.get('content-type')
  if (type !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error(`type ${type}`)
  return new Metrics(await response.text())
}

/** The pause between two scrapes, in milliseconds. A service builds a page at most once a second. */
const PAUSE_MS = 20

/** Scrapes a service until its metrics satisfy a condition. */
export async function scrapeUntil(
  adminUrl: string,
  isReached: (metrics: Metrics) => boolean,
): Promise<Metrics> {
  for (;;) {
    const metrics = await scrape(adminUrl)
    if (isReached(metrics)) return metrics
    await setTimeout(PAUSE_MS)
  }
}
