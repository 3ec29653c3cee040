import type { MetricValueWithName } from '@prometheus-io/client'
import type { Metrics } from '../../src/stores/shared/store-metrics.ts'

/** The sum of the series with a name, such as `x` or, of a histogram, `x_count`; undefined if there are none. */
export function valueIn(metrics: Metrics, series: string): number | undefined {
  const values = metrics.flatMap(({ name, values }) =>
    (values as MetricValueWithName<string>[])
      .filter(({ metricName = name }) => metricName === series)
      .map(({ value }) => value),
  )
  return values.length === 0 ? undefined : values.reduce((sum, each) => sum + each)
}
