/** Webhooks while the primary is killed and a standby is promoted. */
import t from 'tap'
import { pageOf } from '../stores/changes.ts'
import { bodiesByPlant, startReceiver } from '../webhooks/receiver.ts'
import { idsFrom, newPlace } from '../webhooks/setting.ts'
import { Cluster, until } from './cluster.ts'

const PLANTS = 300

t.test('a failover loses no event', async (t) => {
  const cluster = await Cluster.start(t)
  const { store, add, deliver, log } = await newPlace(t, cluster.url)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  deliver()
  const ids = idsFrom(1, PLANTS)
  const create = async (id: bigint) => {
    // A create whose response was lost is replayed.
    await until(async () => {
      const result = await store.create({ id, name: `plant ${id}` }).catch(() => undefined)
      return result !== undefined
    })
  }
  const creating = (async () => {
    for (const id of ids) await create(id)
  })()
  await receiver.until(PLANTS / 3)
  await cluster.primary.crash()
  await cluster.promote()
  await creating
  const received = await receiver.untilDistinct(PLANTS)
  t.equal(receiver.ids.size, PLANTS)
  t.equal(bodiesByPlant(received).size, PLANTS)
  const { changes } = await pageOf(store, undefined)
  t.same(
    changes.map(({ id }) => id),
    ids,
  )
  t.same(
    log.filter(({ level }) => level > 40),
    [],
  )
})
