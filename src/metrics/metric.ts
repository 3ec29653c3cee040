/** Metrics in the form that the library reads: that of `registry.getMetricsAsJSON()`. */
import type { HistogramFigures } from '../shared-memory/shared-histogram.ts'

export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: string
  /** What the library does with several values that have the same labels. */
  readonly aggregator: 'sum' | 'first'
  readonly values: readonly Value[]
}

export interface Value {
  /** By default, the name of the metric. */
  readonly metricName?: string
  readonly labels: Labels
  readonly value: number
}

export type Labels = Readonly<Record<string, string | number>>

/** Numbers with the same labels are added up. */
export type Sample = readonly [labels: Labels, value: number]

export function gauge(name: string, help: string, ...samples: readonly Sample[]): Metric {
  return toMetric('gauge', name, help, samples)
}

export function counter(name: string, help: string, ...samples: readonly Sample[]): Metric {
  return toMetric('counter', name, help, samples)
}

function toMetric(type: string, name: string, help: string, samples: readonly Sample[]): Metric {
  const values = samples.map(([labels, value]) => ({ labels, value }))
  return { name, help, type, aggregator: 'sum', values }
}

/** Histograms with the same labels are added up. */
export function histogram(
  name: string,
  help: string,
  ...samples: readonly (readonly [labels: Labels, figures: HistogramFigures])[]
): Metric {
  const values = samples.flatMap(([labels, figures]) => toValues(name, labels, figures))
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}

/** Each bucket of a Prometheus histogram includes the smaller ones. */
function toValues(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: HistogramFigures,
): Value[] {
  let count = 0
  const buckets = counts.map((each, index) => {
    count += each
    const le = bounds[index] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
