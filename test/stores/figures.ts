import type { MetricValueWithName } from '@prometheus-io/client'
import type { Test } from 'tap'
import type { Store } from '../../src/stores/shared/store.ts'
import type { Metrics } from '../../src/stores/shared/store-metrics.ts'
import { createIn } from '../helpers/plants/single-changes.ts'

export const WAITING = 'plant_store_waiting_changes'

export const plant = (id: number) => ({ id: BigInt(id), name: 'Abies alba Mill.' })

/** What the stores of all engines measure about themselves. */
export function figuresSuite(
  t: Test,
  open: (t: Test, isMeasured: boolean) => Promise<Store>,
): void {
  t.test('changes wait until they are durable', async (t) => {
    const store = await open(t, true)
    await store.metrics()
    const created = Promise.all([1, 2, 3].map((id) => createIn(store, plant(id))))
    t.equal(valueIn(await store.metrics(), WAITING), 3)
    await created
    t.equal(valueIn(await store.metrics(), WAITING), 0)
  })

  t.test('a store that does not measure has no metrics', async (t) => {
    const store = await open(t, false)
    await createIn(store, plant(1))
    t.same(await store.metrics(), [])
  })
}

/** The sum of the series with a name, such as `x` or, of a histogram, `x_count`; undefined if there are none. */
export function valueIn(metrics: Metrics, series: string): number | undefined {
  const values = metrics.flatMap(({ name, values }) =>
    (values as MetricValueWithName<string>[])
      .filter(({ metricName = name }) => metricName === series)
      .map(({ value }) => value),
  )
  return values.length === 0 ? undefined : values.reduce((sum, each) => sum + each)
}
