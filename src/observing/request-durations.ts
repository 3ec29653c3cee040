import type { Metric, Registry } from '@prometheus-io/client'
import { known } from '../../core/known.ts'
import { DURATION_BOUNDS } from '../stores/shared/store-metrics.ts'

const NAME = 'http_server_request_duration_seconds'

type Labels = Readonly<Record<string, string>>

/** The durations of the requests with some labels. */
export interface Durations {
  /** Counts a duration, in seconds. */
  observe(seconds: number): void
}

/**
 * The histogram of the durations of requests, in a registry of the library. The library's own histograms look up their
 * labels for every value, which takes a tenth of the processor time of a read.
 */
export class RequestDurations {
  readonly #series: Series[] = []

  constructor(registry: Registry) {
    const metric = {
      name: NAME,
      help: 'From the head of a request to the end of its response. No status if the client disconnected before that.',
      type: 'histogram',
      aggregator: 'sum',
    }
    const get = async () => ({ ...metric, values: this.#series.flatMap(toValues) })
    // All that a registry uses of a metric.
    registry.registerMetric({ ...metric, get } as unknown as Metric)
  }

  /** Adds labels to the histogram. */
  add(labels: Labels): Durations {
    const series = new Series(labels)
    this.#series.push(series)
    return series
  }
}

class Series implements Durations {
  readonly labels: Labels
  /** The last bucket has no bound. */
  readonly counts: number[] = Array(DURATION_BOUNDS.length + 1).fill(0)
  sum = 0

  constructor(labels: Labels) {
    this.labels = labels
  }

  observe(seconds: number): void {
    let bucket = 0
    for (const bound of DURATION_BOUNDS) {
      if (seconds <= bound) break
      bucket++
    }
    this.counts[bucket] = known(this.counts[bucket]) + 1
    this.sum += seconds
  }
}

/** Each bucket of a Prometheus histogram includes the smaller ones. */
function toValues({ labels, counts, sum }: Series) {
  let count = 0
  const buckets = counts.map((each, index) => {
    count += each
    const le = DURATION_BOUNDS[index] ?? '+Inf'
    return { metricName: `${NAME}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count },
  ]
}
