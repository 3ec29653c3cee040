import t from 'tap'
import { SharedFeed } from '../../service/shared-feed.ts'
import type { WebhookProgress } from '../../service/webhook-store.ts'
import { DeliveryLoop, type DeliveryLoopOptions } from '../../src/webhooks/delivery-loop.ts'
import { PageMemory } from '../../src/webhooks/page-memory.ts'
import { FastClock, newPlace, webhookIn } from './setting.ts'

const ignore = () => {}

/** Starts a loop with a webhook that has one change to deliver. */
async function startLoop(
  t: Parameters<typeof newPlace>[0],
  options: Pick<DeliveryLoopOptions, 'clock'> &
    Partial<Pick<DeliveryLoopOptions, 'memory' | 'lease'>> & {
      send: DeliveryLoopOptions['sender']['send']
    },
  name = 'Abies',
) {
  const { store, add } = await newPlace(t)
  await add('orders', 'https://receiver.example')
  await store.create({ id: 1n, name })
  const saved: WebhookProgress[] = []
  const loop = new DeliveryLoop({
    webhook: await webhookIn(store, 'orders'),
    feed: new SharedFeed(store),
    memory: options.memory ?? new PageMemory(),
    lease: { signal: new AbortController().signal },
    save: (progress) => saved.push(progress),
    remove: async () => true,
    sender: { send: options.send, close: ignore },
    events: {
      onDelivered: ignore,
      onFailed: ignore,
      onPaused: ignore,
      onRemoved: ignore,
      onError: (_name, error) => t.fail(String(error)),
    },
    keepChanges: 3_600_000,
    ...options,
  })
  return { loop, saved }
}

t.test('nothing is sent while the lease is uncertain', async (t) => {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  const clock = new FastClock()
  const isLeased = () => clock.waits.length >= 3
  const { loop, saved } = await startLoop(t, {
    lease: {
      get signal() {
        return isLeased() ? new AbortController().signal : AbortSignal.abort()
      },
    },
    clock,
    send: async () => {
      t.ok(isLeased())
      resolve()
      return { result: 'received', status: 204 }
    },
  })
  await sent
  await loop.stop()
  t.ok(saved.at(-1)?.lastSuccessAt)
})

t.test('an attempt is abandoned when the lease becomes uncertain', async (t) => {
  let lease = new AbortController()
  const { promise: repeated, resolve } = Promise.withResolvers<void>()
  const signals: AbortSignal[] = []
  const { loop, saved } = await startLoop(t, {
    lease: {
      get signal() {
        return lease.signal
      },
    },
    clock: new FastClock(),
    send: async (_delivery, signal) => {
      signals.push(signal)
      if (signals.length === 2) resolve()
      else {
        const { promise: aborted, resolve: abort } = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => abort())
        lease.abort()
        lease = new AbortController()
        await aborted
        return { result: 'failed', reason: 'aborted', retryAfterMs: 0 }
      }
      return { result: 'received', status: 204 }
    },
  })
  await repeated
  await loop.stop()
  t.match(signals, [{ aborted: true }, {}])
  t.match(saved.at(-1), { attempts: 0, lastFailure: undefined }, 'it is not a failure')
})

t.test('large changes are delivered one after the other, and small ones meanwhile', async (t) => {
  const memory = new PageMemory(1)
  const large = 'x'.repeat(20_000)
  const sent = [large, large, 'Abies'].map((name) => ({ name, ...Promise.withResolvers<void>() }))
  const first = Promise.withResolvers<void>()
  const clock = new FastClock()
  const loops: DeliveryLoop[] = []
  for (const [index, { name, resolve }] of sent.entries()) {
    const send = async () => {
      resolve()
      if (index === 0) await first.promise
      return { result: 'received', status: 204 } as const
    }
    loops.push((await startLoop(t, { memory, clock, send }, name)).loop)
    if (index === 0) await sent[0]?.promise
  }
  await sent[2]?.promise
  const before = clock.waits.length
  while (clock.waits.length < before + 3) await new Promise(setImmediate)
  t.equal(memory.hasRoom, false)
  first.resolve()
  await sent[1]?.promise
  await Promise.all(loops.map((loop) => loop.stop()))
  t.equal(memory.hasRoom, true)
})
