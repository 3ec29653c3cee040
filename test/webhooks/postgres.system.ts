/** Deliveries by replicas that share a PostgreSQL server. */
import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { webhookEvents } from '../../service/webhook-store.ts'
import { sharedPostgres } from '../helpers/shared-postgres.ts'
import { startReceiver } from './receiver.ts'
import { createPlants, eventually, newPlace } from './setting.ts'

t.test('a replica that loses the database stops before another one delivers', async (t) => {
  const { emptyDatabase } = await sharedPostgres()
  const database = await emptyDatabase()
  const [one, other] = [await newPlace(t, database), await newPlace(t, database)]
  const { promise: aborted, resolve } = Promise.withResolvers<number>()
  const receiver = await startReceiver(t, {
    respond: (response, index) => {
      if (index > 0) response.writeHead(204).end()
      else response.on('close', () => resolve(performance.now()))
    },
  })
  await one.add('orders', receiver.url, { events: webhookEvents })
  let isLost = false
  const losing = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_target, name) {
        const member = target[name as keyof Target]
        if (name === 'webhooks') return losing(member as object)
        if (typeof member !== 'function') return member
        return async (...parameters: unknown[]) => {
          if (isLost) throw new StoreUnavailable('failing', 'ECONNREFUSED')
          return member.apply(target, parameters)
        }
      },
    })
  const lost = one.deliver({ store: losing(one.store) })
  await eventually(() => lost.figures()[0]?.lag !== undefined)
  const survivor = other.deliver()
  await createPlants(other.store, 1, 1)
  await other.store.remove(1n)
  await receiver.until(1)
  isLost = true
  const received = await receiver.until(3)
  t.same(
    received.map(({ event }) => event),
    ['newPlant', 'newPlant', 'plantRemoved'],
  )
  t.ok((await aborted) < Number(received[1]?.at))
  await eventually(() => survivor.figures()[0]?.received === 2)
  isLost = false
  await eventually(() => lost.figures()[0]?.lag === undefined)
  t.equal(receiver.received.length, 3)
})
