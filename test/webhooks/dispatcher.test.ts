import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PlantCodec } from '../../service/plant-codec.ts'
import { SharedFeed } from '../../service/shared-feed.ts'
import {
  type Webhook,
  type WebhookEvent,
  type WebhookProgress,
  webhookEvents,
} from '../../service/webhook-store.ts'
import { ChangeMemory } from '../../src/webhooks/change-memory.ts'
import { Dispatcher, type DispatcherOptions } from '../../src/webhooks/dispatcher.ts'
import type { Message } from '../../src/webhooks/message.ts'
import type { DeliveryResult } from '../../src/webhooks/sender.ts'
import { changesAfter } from '../stores/changes.ts'
import { createPlants, FastClock, idsFrom, newPlace, webhookIn } from './setting.ts'

const RECEIVED: DeliveryResult = { result: 'received', status: 204 }
const FAILED = { result: 'failed', reason: 'status 500', retryAfterMs: 0 } as const

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** An attempt that ends when the test says so. */
interface Attempt extends PromiseWithResolvers<DeliveryResult> {
  readonly plant: bigint
  readonly event: string
  readonly id: string
  readonly signal: AbortSignal
}

/** A webhook of a store, whose attempts the test decides. */
async function newWebhook(t: Test, events: readonly WebhookEvent[] = webhookEvents) {
  const place = await newPlace(t)
  await place.add('orders', 'https://receiver.example', { events })
  const { store } = place
  const attempts: Attempt[] = []
  const log: string[] = []
  let answer: ((attempt: Attempt) => DeliveryResult | Promise<DeliveryResult>) | undefined
  const sender = {
    send: async (_url: string, { headers, body }: Message, signal: AbortSignal) => {
      const plant = BigInt(/"id":(-?\d+)/.exec(body)?.[1] ?? 0)
      const [event, id] = [headers['webhook-event'], headers['webhook-id']].map(String)
      const attempt = {
        plant,
        event,
        id,
        signal,
        ...Promise.withResolvers<DeliveryResult>(),
      } as Attempt
      attempts.push(attempt)
      const aborted = () => attempt.resolve({ ...FAILED, reason: 'the delivery was canceled' })
      signal.addEventListener('abort', aborted)
      return answer === undefined ? attempt.promise : answer(attempt)
    },
    close: () => log.push('closed'),
  }
  const start = async (options: Partial<DispatcherOptions> = {}) => {
    const dispatcher = new Dispatcher({
      webhook: await webhookIn(store, 'orders'),
      feed: new SharedFeed(store),
      memory: new ChangeMemory(),
      sender,
      codec: new PlantCodec([]),
      clock: new FastClock(),
      isLeader: () => true,
      inFlightMax: () => 16,
      log: {
        onDelivered: (_name, failed) => log.push(`delivered ${failed}`),
        onFailed: (_name, { attempts }) => log.push(`failed ${attempts}`),
        onPaused: (_name, { lastFailure }) => log.push(`paused: ${lastFailure}`),
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

t.test('16 plants at a time are delivered, and the events of each one in order', async (t) => {
  const { store, start, attempts, plants } = await newWebhook(t)
  await createPlants(store, 1, 2)
  await store.update(2n, { name: 'changed' })
  await store.remove(2n)
  await createPlants(store, 3, 20)
  await start()
  await settle(() => attempts.length >= 16)
  t.same(plants(), idsFrom(1, 16), 'the other events of plant 2 wait')
  attempts[1]?.resolve(RECEIVED)
  await settle(() => attempts.length > 16)
  t.match(attempts[16], { plant: 2n, event: 'plantChanged' })
  t.equal(attempts.length, 17)
  attempts[16]?.resolve(RECEIVED)
  await settle(() => attempts.length > 17)
  t.match(attempts[17], { plant: 2n, event: 'plantRemoved' })
  t.equal(attempts.length, 18)
  attempts[17]?.resolve(RECEIVED)
  attempts[0]?.resolve(RECEIVED)
  await settle(() => attempts.length > 19)
  t.same(plants().slice(18), [17n, 18n])
})

t.test('progress does not pass an event that was not delivered', async (t) => {
  const { store, start, attempts, respond, plants } = await newWebhook(t)
  await createPlants(store, 1, 1500)
  const { cursor } = (await webhookIn(store, 'orders')).progress
  const changes = await changesAfter(store, cursor)
  respond(({ plant, promise }) => (plant === 1n ? promise : RECEIVED))
  const first = await start()
  await settle(() => attempts.length >= 1000)
  t.equal(attempts.length, 1000, 'a bounded number of changes follows the oldest one')
  t.equal(first.progress.cursor, cursor)
  t.equal(first.waitingSince, Date.parse(changes[0]?.at ?? ''))
  first.stop()
  await first.ended
  t.match(first.progress, { cursor, attempts: 0, lastFailure: undefined })
  // As after a crash.
  await start({ webhook: withProgress(await webhookIn(store, 'orders'), first.progress) })
  await settle(() => attempts.length >= 2000)
  t.same(plants().slice(1000), idsFrom(1, 1000))
  t.same(new Set(attempts.slice(0, 1000).map(({ id }) => id)).size, 1000)
  t.same(
    attempts.slice(1000, 1010).map(({ id }) => id),
    attempts.slice(0, 10).map(({ id }) => id),
  )
  attempts[1000]?.resolve(RECEIVED)
  await settle(() => attempts.length >= 2500)
  t.same(plants().slice(2000), idsFrom(1001, 500))
})

t.test('after a failure, only the oldest event is tried until it succeeds', async (t) => {
  const { store, start, attempts, plants, log } = await newWebhook(t)
  await createPlants(store, 1, 20)
  const clock = new FastClock()
  const dispatcher = await start({ clock })
  await settle(() => attempts.length >= 16)
  attempts[1]?.resolve(FAILED)
  await settle(() => log.length === 1)
  attempts[2]?.resolve(RECEIVED)
  attempts[3]?.resolve({ ...FAILED, retryAfterMs: 60_000 })
  await settle(() => log.length === 3)
  t.same(log, ['failed 1', 'delivered 0', 'failed 1'], 'which count as one')
  t.equal(attempts.length, 16, 'nothing else begins')
  for (const attempt of attempts.slice(4)) attempt.resolve(RECEIVED)
  attempts[0]?.resolve(RECEIVED)
  await settle(() => attempts.length > 16)
  t.equal(dispatcher.progress.attempts, 1)
  t.equal(Math.max(...clock.waits) > 59_000, true, 'the longest delay applies')
  t.same(plants().slice(16), [2n], 'the oldest')
  t.equal(attempts[16]?.id, attempts[1]?.id)
  attempts[16]?.resolve(FAILED)
  await settle(() => attempts.length > 17)
  t.equal(dispatcher.progress.attempts, 2)
  attempts[17]?.resolve(RECEIVED)
  await settle(() => attempts.length > 18)
  t.match(dispatcher.progress, { attempts: 0, failingSince: undefined, nextAttemptAt: undefined })
  t.same(plants().slice(17), [2n, 4n, 17n, 18n, 19n, 20n], 'nothing is repeated')
  t.equal(log.at(-1), 'delivered 2')
})

for (const [what, count] of [
  ['the only one', 1],
  ['followed by delivered ones', 3],
  ['followed by others', 20],
] as const) {
  t.test(`without a cursor, a failed change can be deleted that is ${what}`, async (t) => {
    const { store, start, attempts, respond, plants } = await newWebhook(t)
    const webhook = await webhookIn(store, 'orders')
    await createPlants(store, 1, count)
    const changes = await changesAfter(store, webhook.progress.cursor)
    const feed = new SharedFeed(store)
    let reads = 0
    let deleted: string | undefined
    const readNext: SharedFeed['readNext'] = ({ after = deleted, limit }, waitMs, signal) => {
      reads++
      return feed.readNext({ after, limit }, waitMs, signal)
    }
    respond(() => {
      if (attempts.length > 1) return RECEIVED
      deleted = changes[0]?.cursor
      return FAILED
    })
    const dispatcher = await start({
      webhook: withProgress(webhook, { cursor: undefined }),
      feed: { readNext },
    })
    // From the oldest change before and after it was deleted, and from the end.
    await settle(() => reads === 3)
    t.same(plants(), idsFrom(1, count))
    t.equal(dispatcher.progress.cursor, changes.at(-1)?.cursor)
    t.equal(dispatcher.waitingSince, undefined)
  })
}

t.test('without a cursor, a change that fails while no others arrive is repeated', async (t) => {
  const { store, start, attempts, plants } = await newWebhook(t)
  const webhook = withProgress(await webhookIn(store, 'orders'), { cursor: undefined })
  await createPlants(store, 1, 2)
  const [, last] = await changesAfter(store)
  const feed = new SharedFeed(store)
  let reads = 0
  const readNext: SharedFeed['readNext'] = (request, waitMs, signal) => {
    reads++
    return feed.readNext(request, waitMs, signal)
  }
  const dispatcher = await start({ webhook, feed: { readNext } })
  await settle(() => reads === 2)
  attempts[1]?.resolve(RECEIVED)
  attempts[0]?.resolve(FAILED)
  await settle(() => reads === 3)
  t.equal(dispatcher.progress.cursor, undefined, 'nothing is passed')
  t.same(plants(), [1n, 2n, 1n])
  attempts[2]?.resolve(RECEIVED)
  await settle()
  t.equal(dispatcher.progress.cursor, last?.cursor)
})

t.test('progress goes on after a retry that later pages had overtaken', async (t) => {
  const { store, start, attempts, respond, plants } = await newWebhook(t)
  const { cursor } = (await webhookIn(store, 'orders')).progress
  await createPlants(store, 1, 201)
  const feed = new SharedFeed(store)
  // The retry ends before the second page of its round is read.
  const readNext: SharedFeed['readNext'] = async (...request) => {
    const page = await feed.readNext(...request)
    await setImmediate()
    return page
  }
  respond(({ promise }) => (attempts.length === 1 ? promise : RECEIVED))
  const dispatcher = await start({ feed: { readNext } })
  await settle(() => attempts.length === 201)
  attempts[0]?.resolve(FAILED)
  await settle(() => attempts.length === 202)
  t.equal(dispatcher.waitingSince, undefined, 'nothing is waiting')
  await createPlants(store, 202, 1)
  await settle(() => attempts.length === 203)
  t.same(plants().slice(201), [1n, 202n])
  const changes = await changesAfter(store, cursor)
  t.equal(dispatcher.progress.cursor, changes.at(-1)?.cursor)
})

t.test('with any failures, each plant has its events in order and none is lost', async (t) => {
  const { store, start, attempts, respond } = await newWebhook(t, ['newPlant', 'plantChanged'])
  const { cursor } = (await webhookIn(store, 'orders')).progress
  for (let round = 0; round < 30; round++) {
    for (const id of idsFrom(1, 20)) {
      if (round === 0) await store.create({ id, name: '0' })
      else if (Math.random() < 0.5) await store.update(id, { name: `${round}` })
    }
    if (round % 10 === 9) await store.remove(BigInt(round))
    if (round % 10 === 9) await store.create({ id: BigInt(round), name: 'again' })
  }
  const changes = await changesAfter(store, cursor)
  const wanted = changes.filter(({ type }) => type !== 'removed').length
  const delivered = new Set<string>()
  const inFlight = new Set<bigint>()
  const order = new Map<bigint, string[]>()
  respond(async ({ plant, id }) => {
    t.notOk(inFlight.has(plant))
    inFlight.add(plant)
    t.ok(inFlight.size <= 16)
    const turns = Math.random() * 10
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    inFlight.delete(plant)
    if (Math.random() < 0.1) return FAILED
    t.notOk(delivered.has(id), 'it is repeated only after a failure')
    delivered.add(id)
    order.set(plant, [...(order.get(plant) ?? []), id])
    return RECEIVED
  })
  const dispatcher = await start()
  const ids = new Map<bigint, Set<string>>()
  await settle(() => {
    const position = changes.findIndex((each) => each.cursor === dispatcher.progress.cursor)
    const passed = changes.slice(0, position + 1).filter(({ type }) => type !== 'removed')
    if (passed.length > delivered.size) t.fail('progress has passed an event')
    return delivered.size === wanted
  })
  // The first attempts of a plant are in the order of its changes, because later ones wait.
  for (const { plant, id } of attempts) ids.set(plant, (ids.get(plant) ?? new Set()).add(id))
  for (const [plant, received] of order) t.same(received, [...(ids.get(plant) ?? [])])
  t.equal(dispatcher.progress.cursor, changes.at(-1)?.cursor)
  t.equal(dispatcher.waitingSince, undefined)
})

t.test('an attempt is abandoned when the dispatcher stops, which is no failure', async (t) => {
  const { store, start, attempts, log } = await newWebhook(t)
  await createPlants(store, 1, 1)
  const dispatcher = await start()
  await settle(() => attempts.length === 1)
  dispatcher.stop()
  await dispatcher.ended
  t.equal(attempts[0]?.signal.aborted, true)
  t.match(dispatcher.progress, { attempts: 0, lastFailure: undefined })
  t.same(log, ['closed'])
})

t.test('nothing is sent without the lease', async (t) => {
  const { store, start, attempts } = await newWebhook(t)
  await createPlants(store, 1, 2)
  const isLeader = () => {
    if (attempts.length === 0) return true
    dispatcher.stop()
    return false
  }
  const dispatcher = await start({ isLeader })
  await dispatcher.ended
  t.equal(attempts.length, 1)
})

t.test('a webhook that fails for three days is paused', async (t) => {
  const { store, start, attempts, respond, log } = await newWebhook(t)
  await createPlants(store, 1, 2)
  respond(() => FAILED)
  const clock = new FastClock()
  const started = clock.now()
  const dispatcher = await start({ clock })
  await dispatcher.ended
  const { progress } = dispatcher
  t.match(progress, { lastFailure: 'status 500', nextAttemptAt: undefined })
  t.ok(Number(progress.pausedAt) - started >= 3 * DAY)
  t.ok(Number(progress.pausedAt) - started < 3 * DAY + 1.1 * HOUR)
  t.ok(progress.attempts > 72 && progress.attempts < 120, String(progress.attempts))
  // Two at first, which count as one.
  t.equal(attempts.length, progress.attempts + 1)
  t.same(log.slice(-2), ['paused: status 500', 'closed'])
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

t.test('large changes are delivered one after the other, and small ones meanwhile', async (t) => {
  const memory = new ChangeMemory(1)
  const clock = new FastClock()
  const large = 'x'.repeat(20_000)
  const webhooks = [await newWebhook(t), await newWebhook(t), await newWebhook(t)] as const
  for (const [index, { store, start, attempts }] of webhooks.entries()) {
    await store.create({ id: 1n, name: index < 2 ? large : 'Abies' })
    await start({ memory, clock })
    if (index !== 1) await settle(() => attempts.length === 1)
  }
  const [first, second, third] = webhooks
  t.same([first.plants(), second.plants(), third.plants()], [[1n], [], [1n]])
  t.equal(memory.hasRoom, false)
  first.attempts[0]?.resolve(RECEIVED)
  await settle(() => second.attempts.length === 1)
  second.attempts[0]?.resolve(RECEIVED)
  await settle(() => memory.hasRoom)
  t.same(second.log, ['delivered 0'])
})
