/** What `../interleavings/dispatcher.test.ts` cannot test: limits, the log, and the memory that webhooks share. */

import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PlantCodec } from '../../service/plant-codec.ts'
import { SharedFeed } from '../../service/shared-feed.ts'
import { type Webhook, type WebhookProgress, webhookEvents } from '../../service/webhook-store.ts'
import { CHANGES_MAX } from '../../src/stores/shared/page-limits.ts'
import { Dispatcher, type DispatcherOptions } from '../../src/webhooks/dispatcher.ts'
import type { Message } from '../../src/webhooks/message.ts'
import type { DeliveryResult } from '../../src/webhooks/sender.ts'
import { createIn, updateIn } from '../helpers/plants/single-changes.ts'
import { changesAfter } from '../stores/feed-reads.ts'
import { createPlants, FastClock, idsFrom, newPlace, webhookIn } from './setting.ts'

const RECEIVED: DeliveryResult = { result: 'received', status: 204 }
const FAILED = { result: 'failed', reason: 'status 500', retryAfterMs: 0 } as const

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** An attempt that ends when the test says so. */
interface Attempt extends PromiseWithResolvers<DeliveryResult> {
  readonly plant: bigint
  readonly id: string
}

/** A webhook of a store, whose attempts the test decides. */
async function newWebhook(t: Test) {
  const place = await newPlace(t)
  await place.add('orders', 'https://receiver.example')
  const { store } = place
  const attempts: Attempt[] = []
  const log: string[] = []
  let answer: ((attempt: Attempt) => DeliveryResult | Promise<DeliveryResult>) | undefined
  const sender = {
    send: async (_url: string, { headers, body }: Message, signal: AbortSignal) => {
      const plant = BigInt(/"id":(-?\d+)/.exec(body)?.[1] ?? 0)
      const id = String(headers['webhook-id'])
      const attempt = { plant, id, ...Promise.withResolvers<DeliveryResult>() }
      attempts.push(attempt)
      const aborted = () => attempt.resolve({ ...FAILED, reason: 'the delivery was canceled' })
      signal.addEventListener('abort', aborted)
      return answer === undefined ? attempt.promise : answer(attempt)
    },
    close: () => {},
  }
  const start = async (options: Partial<DispatcherOptions> = {}) => {
    const dispatcher = new Dispatcher({
      webhook: await webhookIn(store, 'orders'),
      feed: new SharedFeed(store),
      inFlight: { text: 0 },
      sender,
      codec: new PlantCodec([]),
      clock: new FastClock(),
      isLeader: () => true,
      inFlightMax: () => 16,
      log: {
        onDelivered: (_name, failed) => log.push(`delivered ${failed}`),
        onFailed: (_name, { attempts }) => log.push(`failed ${attempts}`),
        onPaused: () => {},
        onError: (_name, error) => log.push(`error: ${error}`),
      },
      keepChanges: HOUR,
      ...options,
    })
    t.teardown(async () => {
      dispatcher.stop()
      await dispatcher.ended
    })
    return dispatcher
  }
  return {
    ...place,
    attempts,
    log,
    start,
    /** Decides the attempts from now on. */
    respond: (decide: (attempt: Attempt) => DeliveryResult | Promise<DeliveryResult>) => {
      answer = decide
    },
    plants: () => attempts.map(({ plant }) => plant),
  }
}

/** Waits a few turns of the event loop more than anything needs that could happen. */
async function settle(condition: () => unknown = () => true): Promise<void> {
  while (!condition()) await setImmediate()
  for (let turn = 0; turn < 50; turn++) await setImmediate()
}

/** The webhook with another progress. */
function withProgress(webhook: Webhook, progress: Partial<WebhookProgress>): Webhook {
  return { ...webhook, progress: { ...webhook.progress, ...progress } }
}

t.test('progress does not pass an event that was not delivered', async (t) => {
  const { store, start, attempts, respond, plants } = await newWebhook(t)
  await createPlants(store, 1, CHANGES_MAX + 10)
  const { cursor } = (await webhookIn(store, 'orders')).progress
  const changes = await changesAfter(store, cursor)
  respond(({ plant, promise }) => (plant === 1n ? promise : RECEIVED))
  const first = await start()
  await settle(() => attempts.length >= CHANGES_MAX)
  t.equal(attempts.length, CHANGES_MAX, 'a bounded number of changes follows the oldest one')
  t.equal(first.progress.cursor, cursor)
  t.equal(first.waitingSince, Date.parse(changes[0]?.at ?? ''))
  first.stop()
  await first.ended
  t.match(first.progress, { cursor, attempts: 0, lastFailure: undefined })
  // As after a crash.
  await start({ webhook: withProgress(await webhookIn(store, 'orders'), first.progress) })
  await settle(() => attempts.length >= 2 * CHANGES_MAX)
  t.same(plants().slice(CHANGES_MAX), idsFrom(1, CHANGES_MAX))
  t.same(new Set(attempts.slice(0, CHANGES_MAX).map(({ id }) => id)).size, CHANGES_MAX)
  t.same(
    attempts.slice(CHANGES_MAX, CHANGES_MAX + 10).map(({ id }) => id),
    attempts.slice(0, 10).map(({ id }) => id),
  )
  attempts[CHANGES_MAX]?.resolve(RECEIVED)
  await settle(() => attempts.length >= 2 * CHANGES_MAX + 10)
  t.same(plants().slice(2 * CHANGES_MAX), idsFrom(CHANGES_MAX + 1, 10))
})

t.test('only the change that failed is delivered until it succeeds', async (t) => {
  const { store, start, attempts, plants, log } = await newWebhook(t)
  await createPlants(store, 1, 1)
  await updateIn(store, 1n, { tag: 'Tree' })
  await createPlants(store, 2, 1)
  const webhook = await webhookIn(store, 'orders')
  const { cursor } = webhook.progress
  const dispatcher = await start({ webhook: { ...webhook, events: webhookEvents } })
  await settle(() => attempts.length === 2)
  attempts[1]?.resolve(FAILED)
  await settle()
  t.same(plants(), [1n, 2n], 'the other one is still in flight')
  attempts[0]?.resolve(RECEIVED)
  await settle(() => attempts.length === 3)
  t.not(dispatcher.progress.cursor, cursor)
  attempts[2]?.resolve(FAILED)
  await settle(() => attempts.length === 4)
  attempts[3]?.resolve(RECEIVED)
  await settle(() => attempts.length === 5)
  t.same(plants(), [1n, 2n, 2n, 2n, 1n])
  t.same(log, ['failed 1', 'delivered 0', 'failed 2', 'delivered 2'])
})

t.test('a failure before the clock was set back counts from then on', async (t) => {
  const { store, start, attempts } = await newWebhook(t)
  await createPlants(store, 1, 1)
  const future = new Date(Date.now() + 30 * DAY)
  const failing = { attempts: 1, failingSince: future, nextAttemptAt: future }
  const webhook = withProgress(await webhookIn(store, 'orders'), failing)
  const clock = new FastClock()
  const dispatcher = await start({ webhook, clock })
  await settle(() => attempts.length === 1)
  t.equal(clock.waits[0], HOUR, 'it does not wait for a month')
  attempts[0]?.resolve(FAILED)
  await settle(() => attempts.length === 2)
  t.ok(Number(dispatcher.progress.failingSince) <= clock.now())
})

t.test('a bug in an attempt is logged, and the attempt is repeated', async (t) => {
  const { store, start, attempts, respond, log } = await newWebhook(t)
  await createPlants(store, 1, 1)
  respond(() => {
    if (attempts.length === 1) throw new TypeError('bug')
    return RECEIVED
  })
  const dispatcher = await start()
  await settle(() => log.length === 3)
  t.same(log, ['error: TypeError: bug', 'failed 1', 'delivered 1'])
  t.match(dispatcher.progress, { lastFailure: 'internal error', attempts: 0 })
})

t.test('large changes wait for others, and small ones do not', async (t) => {
  const inFlight = { text: 2 ** 24 }
  const clock = new FastClock()
  const webhooks = [await newWebhook(t), await newWebhook(t)] as const
  const [large, small] = webhooks
  await createIn(large.store, { id: 1n, name: 'x'.repeat(20_000) })
  await createIn(small.store, { id: 1n, name: 'Abies' })
  for (const { start } of webhooks) await start({ inFlight, clock })
  await settle(() => small.attempts.length === 1)
  t.same(large.plants(), [])
  inFlight.text--
  await settle(() => large.attempts.length === 1)
  t.equal(inFlight.text, 2 ** 24 - 1 + 20_000)
  large.attempts[0]?.resolve(RECEIVED)
  await settle(() => inFlight.text === 2 ** 24 - 1)
  t.same(large.log, ['delivered 0'])
})
