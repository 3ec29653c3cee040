import t from 'tap'
import { DeliveryLoop } from '../../src/webhooks/delivery-loop.ts'
import { createPlants, FastClock, newPlace, webhookIn } from './setting.ts'

t.test('nothing is sent while the lease is uncertain', async (t) => {
  const { store, add } = await newPlace(t)
  await add('orders', 'https://receiver.example')
  await store.webhooks.lease('process')
  await createPlants(store, 1, 1)
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  const clock = new FastClock()
  const ignore = () => {}
  const isLeased = () => clock.waits.length >= 3
  const loop = new DeliveryLoop({
    webhook: await webhookIn(store, 'orders'),
    owner: 'process',
    store,
    sender: {
      send: async () => {
        t.ok(isLeased())
        resolve()
        return { result: 'received', status: 204 }
      },
      close: ignore,
    },
    clock,
    events: {
      onDelivered: ignore,
      onFailed: ignore,
      onPaused: ignore,
      onRemoved: ignore,
      onError: ignore,
    },
    isLeased,
  })
  await sent
  await loop.stop()
  t.ok((await webhookIn(store, 'orders')).progress.lastSuccessAt, 'the progress is saved')
})
