/** Acknowledgements of a primary with two synchronous standbys. test/consistency/ judges failovers. */

import t from 'tap'
import {
  type CreateResult,
  type NewPlant,
  StoreUnavailable,
} from '../../service/store/plant-store.ts'
import { PostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { createAll } from '../helpers/plants/lists.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { until } from '../helpers/processes/until.ts'
import { Cluster, cancelWaits, refusedWhenCancelled } from './cluster.ts'

/** The timeout of calls that must fail, because they wait for the standbys. */
const IMPATIENCE_MS = 1500

/** The timeout of calls that fail because their wait for the standbys is canceled. */
const PATIENCE_MS = 20_000

/** Limit for a call that must fail, on a busy machine. */
const RESPONSE_MS_MAX = 40_000

const { primary, standbys } = await Cluster.start(t)

t.test('a replay is not acknowledged before a standby has the plant', async (t) => {
  const url = await primary.database('replays')
  const store = await PostgresStore.open({ url, timeout: PATIENCE_MS })
  const impatient = await PostgresStore.open({ url, timeout: IMPATIENCE_MS })
  t.teardown(() => Promise.all([store.close(), impatient.close()]))
  const [fir, pine] = [
    { id: 1n, name: 'Abies alba Mill.' },
    { id: 2n, name: 'Pinus nigra J.F. Arnold' },
  ]
  const refused = async (plant: NewPlant) => {
    for (const isBatch of [false, true]) {
      const begin = performance.now()
      const result: Promise<unknown> = isBatch
        ? createAll(impatient, [plant])
        : createIn(impatient, plant)
      await t.rejects(result, StoreUnavailable)
      t.ok(performance.now() - begin <= RESPONSE_MS_MAX)
    }
  }

  for (const { server } of standbys) server.freeze()
  await refused(fir)
  await refused(fir)
  await cancelWaits(primary)
  await until(
    'the plant is committed',
    async () => (await primary.query('SELECT id FROM plants', 'replays')).length > 0,
  )
  await refused(fir)
  for (const plant of [fir, pine, pine]) {
    await refusedWhenCancelled(t, primary, () => createIn(store, plant))
  }

  for (const { server } of standbys) server.thaw()
  for (const plant of [fir, pine]) {
    let result: CreateResult | undefined
    // The stores may have to reconnect first.
    await until('the plant is acknowledged', async () => {
      result = await createIn(store, plant).catch(() => undefined)
      return result !== undefined
    })
    t.equal(result, 'unchanged')
  }
  t.strictSame(await createAll(store, [fir, pine]), ['unchanged', 'unchanged'])
})

t.test('a repeated removal is not acknowledged before a standby has removed it', async (t) => {
  const url = await primary.database('removals')
  const store = await PostgresStore.open({ url, timeout: PATIENCE_MS })
  t.teardown(() => store.close())
  await createIn(store, { id: 1n, name: 'Abies alba Mill.' })
  for (const { server } of standbys) server.freeze()
  for (const attempt of ['the removal', 'its repetition']) {
    await refusedWhenCancelled(t, primary, () => removeFrom(store, 1n), attempt)
  }
  t.same(await primary.query('SELECT id FROM plants', 'removals'), [])
  for (const { server } of standbys) server.thaw()
  let result: string | undefined
  await until('the removal is acknowledged', async () => {
    result = await removeFrom(store, 1n).catch(() => undefined)
    return result !== undefined
  })
  t.equal(result, 'unchanged')
})
