import { setImmediate } from 'node:timers/promises'
import { Webhook as Verifier } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { restrict } from '../../service/restriction.ts'
import type { ChangePage, ChangesRequest } from '../../service/store/change-feed.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { WebhookStore, webhookEvents } from '../../service/webhook-store.ts'
import { newSecret } from '../../src/webhooks/message.ts'
import { each } from '../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { contract, dereference, schemaErrors } from '../helpers/service/contract-check.ts'
import { CONSISTENT, makeMirror } from '../helpers/service/mirrors.ts'
import { save } from '../stores/suites/webhook-suite.ts'
import {
  plantsIn,
  type Received,
  type ReceiverOptions,
  type Respond,
  startReceiver,
  status,
} from './receiver.ts'
import {
  createPlants,
  eventually,
  idsFrom,
  ManualClock,
  newPlace as newSharedPlace,
  webhookIn,
} from './setting.ts'

/** TLS is a matter of sender.test.ts. */
const startPlain = (t: Test, options: ReceiverOptions = {}) =>
  startReceiver(t, { ...options, plain: true })

/** A place where a second takes a few milliseconds, unless the test advances the clock itself. */
async function newPlace(t: Test, { clock }: { clock?: ManualClock } = {}) {
  const place = await newSharedPlace(t)
  const running = clock ?? new ManualClock()
  if (clock === undefined) running.run(t)
  return {
    ...place,
    clock: running,
    deliver: (options: Parameters<typeof place.deliver>[0] = {}) =>
      place.deliver({ clock: running, ...options }),
  }
}

const plantsOf = (received: readonly Received[]) => received.map(({ plant }) => plant)

t.test('every change of a plant is delivered in order, as the contract describes it', async (t) => {
  // The verifier compares timestamps with the system's clock.
  const clock = new ManualClock()
  const { store, add, deliver } = await newPlace(t, { clock })
  const receiver = await startReceiver(t)
  const secret = newSecret()
  await createIn(store, { id: 99n, name: 'before the webhook' })
  await add('all', receiver.url, { events: webhookEvents, secret })
  deliver()
  const id = -(2n ** 63n)
  await createIn(store, { id, name: 'Tännle "\u{1f332}"', tag: '' })
  await createIn(store, { id, name: 'Tännle "\u{1f332}"', tag: '' })
  await updateIn(store, id, { tag: null })
  await removeFrom(store, id)
  const { received } = receiver
  await eventually(() => {
    clock.advance(100)
    return received.length === 3
  })
  t.same(
    received.map(({ event, body }) => [event, body]),
    [
      ['newPlant', `{"id":${id},"name":"Tännle \\"\u{1f332}\\"","tag":""}`],
      ['plantChanged', `{"id":${id},"name":"Tännle \\"\u{1f332}\\""}`],
      ['plantRemoved', `{"id":${id}}`],
    ],
  )
  const { webhooks } = dereference(contract) as unknown as Documented
  for (const { event, body, headers } of received) {
    t.ok(new Verifier(secret).verify(body, headers as Record<string, string>))
    t.match(headers, { 'content-type': 'application/json', 'user-agent': 'plant-store' })
    const { parameters, requestBody } = webhooks[event]?.post ?? { parameters: [] }
    const value = JSON.parse(body, (key, value) => (key === 'id' ? 1 : value))
    const schema = requestBody?.content['application/json'].schema ?? {}
    t.equal(schemaErrors(schema, value), undefined)
    for (const { name, schema } of parameters) {
      t.equal(schemaErrors(schema, headers[name]), undefined, name)
    }
  }
  t.equal(new Set(received.map(({ id }) => id)).size, 3)
})

interface Documented {
  readonly webhooks: Record<
    string,
    {
      readonly post: {
        readonly parameters: readonly { readonly name: string; readonly schema: object }[]
        readonly requestBody?: { readonly content: { 'application/json': { schema: object } } }
      }
    }
  >
}

t.test(
  'a webhook gets only its events, from the oldest change on if it has no cursor',
  async (t) => {
    const { store, add, deliver } = await newPlace(t)
    const receiver = await startPlain(t)
    await createPlants(store, 1, 500)
    await add('removals', receiver.url, { events: ['plantRemoved'], cursor: undefined })
    await removeFrom(store, 7n)
    deliver()
    t.same(plantsOf(await receiver.until(1)), [7n])
    await eventually(async () => (await webhookIn(store, 'removals')).progress.lastSuccessAt)
    const { cursor } = (await webhookIn(store, 'removals')).progress
    t.match(await store.readChanges({ after: cursor, limit: 1 }), { changes: [] })
  },
)

t.test('an empty log gives a webhook without a cursor a position', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  await add('new', 'https://127.0.0.1:1', { cursor: undefined })
  deliver()
  await eventually(async () => (await webhookIn(store, 'new')).progress.cursor)
})

t.test('failed deliveries are repeated with the same id', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const respond: Respond = (response, index) => response.writeHead(index < 3 ? 500 : 204).end()
  const receiver = await startPlain(t, { respond })
  await add('orders', receiver.url, { events: webhookEvents })
  deliver()
  await createPlants(store, 1, 1)
  await removeFrom(store, 1n)
  await eventually(() => receiver.received.length === 5)
  const { received } = receiver
  t.same(
    received.map(({ event }) => event),
    ['newPlant', 'newPlant', 'newPlant', 'newPlant', 'plantRemoved'],
  )
  t.equal(new Set(received.slice(0, 4).map(({ id }) => id)).size, 1)
  t.not(received[4]?.id, received[0]?.id)
  const isRecovered = async () => (await webhookIn(store, 'orders')).progress.attempts === 0
  await eventually(async () => (await isRecovered()) && log.length === 2)
  const { progress } = await webhookIn(store, 'orders')
  t.match(progress, {
    failingSince: undefined,
    nextAttemptAt: undefined,
    lastFailure: 'status 500',
  })
  t.ok(Number(progress.lastSuccessAt) >= Number(progress.lastFailureAt))
  t.match(log, [
    {
      level: 40,
      webhook: 'orders',
      attempts: 1,
      reason: 'status 500',
      msg: 'webhook delivery failed',
    },
    { level: 30, webhook: 'orders', attempts: 4, msg: 'the webhook works again' },
  ])
})

t.test('Retry-After delays the next attempt, also after a restart', async (t) => {
  const { store, add, deliver, clock } = await newPlace(t)
  const receiver = await startPlain(t, { respond: status(429, { 'retry-after': '60' }) })
  await add('orders', receiver.url)
  const first = deliver()
  await createPlants(store, 1, 1)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.nextAttemptAt)
  const { nextAttemptAt, lastFailureAt } = (await webhookIn(store, 'orders')).progress
  t.equal(Number(nextAttemptAt) - Number(lastFailureAt), 60_000)
  await first.close()
  receiver.respond = status(204)
  const second = deliver()
  await eventually(() => Number(second.figures()[0]?.lag) > 0)
  await eventually(() => clock.now() > Number(nextAttemptAt) - 10_000)
  t.equal(receiver.received.length, 1)
  await eventually(() => receiver.received.length === 2)
  t.ok(clock.now() >= Number(nextAttemptAt))
})

t.test('410 removes the webhook', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const receiver = await startPlain(t, { respond: status(410) })
  await add('orders', receiver.url)
  deliver()
  await createPlants(store, 1, 1)
  await removeFrom(store, 1n)
  await eventually(() => log.length > 0)
  t.equal(receiver.received.length, 1)
  t.same(await new WebhookStore(store).list(), [])
  t.match(log, [
    { level: 40, webhook: 'orders', msg: /removed, because its receiver returned 410/ },
  ])
})

t.test('a webhook that has failed for three days is paused, and can be resumed', async (t) => {
  const { store, add, deliver, log, clock } = await newPlace(t)
  const receiver = await startPlain(t, { respond: status(503) })
  await add('orders', receiver.url)
  await createPlants(store, 1, 2)
  const { progress: begin } = await webhookIn(store, 'orders')
  const failingSince = new Date(clock.now() - 3 * 86_400_000)
  await save(store, 'orders', { ...begin, attempts: 72, failingSince })
  const deliveries = deliver()
  await eventually(() => deliveries.figures()[0]?.isPaused)
  const { progress, owner } = await webhookIn(store, 'orders')
  t.match(progress, { lastFailure: 'status 503', nextAttemptAt: undefined, attempts: 73 })
  t.equal(owner, undefined)
  t.match(log.at(-1), {
    level: 40,
    webhook: 'orders',
    reason: 'status 503',
    msg: /paused.*plant-store webhook retry/,
  })
  t.match(deliveries.figures(), [{ name: 'orders', failed: 1, received: 0, lag: undefined }])
  receiver.respond = status(204)
  await new WebhookStore(store).resume('orders', false)
  await eventually(() => receiver.received.length === 3)
  t.same(plantsIn(receiver.received), [1n, 1n, 2n])
  t.equal(new Set(receiver.received.map(({ id }) => id)).size, 2)
})

const LOST = 'the changes after the last delivery are no longer kept'
const UNKNOWN = `${LOST} (--keep-changes, --keep-changes-bytes), or the database was restored`
const READ_AGAIN =
  'the webhook is paused because it has missed changes: run plant-store webhook retry --from-oldest, and have its ' +
  'receiver read all plants'

for (const { what, answer, hasDelivered = true, keepChanges = 3_600_000, reason } of [
  { what: 'no longer kept', answer: 'expired', hasDelivered: false, reason: UNKNOWN },
  { what: 'of another database', answer: 'malformed', hasDelivered: false, reason: UNKNOWN },
  {
    what: 'older than --keep-changes',
    answer: 'expired',
    keepChanges: 0,
    reason: `${LOST}: they were older than --keep-changes`,
  },
  {
    what: 'too large for --keep-changes-bytes',
    answer: 'expired',
    reason: `${LOST}: together, they exceeded --keep-changes-bytes, or the database was restored`,
  },
] as const) {
  t.test(`a webhook is paused and says why if its changes are ${what}`, async (t) => {
    const { store, add, deliver, log } = await newPlace(t)
    const receiver = await startPlain(t)
    await add('orders', receiver.url)
    let isLost = !hasDelivered
    const readChanges = async (request: ChangesRequest) =>
      isLost ? answer : store.readChanges(request)
    const deliveries = deliver({ keepChanges, store: replacing(store, { readChanges }) })
    if (hasDelivered) {
      await createPlants(store, 1, 1)
      await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
      isLost = true
      await createPlants(store, 2, 1)
    }
    await eventually(async () => (await webhookIn(store, 'orders')).progress.pausedAt)
    t.match((await webhookIn(store, 'orders')).progress, { attempts: 0, lastFailure: reason })
    t.match(log, [{ webhook: 'orders', reason, msg: READ_AGAIN }])
    t.match(deliveries.figures(), [{ failed: 0 }])
  })
}

t.test('a slow receiver does not affect another, and its attempt is abandoned', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const slow = await startPlain(t, { respond: () => {} })
  const fast = await startPlain(t)
  await add('slow', slow.url)
  await add('fast', fast.url)
  const deliveries = deliver({ timeoutMs: 600_000 })
  await createPlants(store, 1, 60)
  t.same(plantsIn(await fast.until(60)), idsFrom(1, 60))
  t.equal((await slow.until(16)).length, 16)
  await eventually(() => deliveries.figures()[0]?.received === 60)
  t.match(deliveries.figures(), [
    { name: 'fast', received: 60, failed: 0, isPaused: false },
    { name: 'slow', received: 0, failed: 0, isPaused: false },
  ])
  t.ok(Number(deliveries.figures()[1]?.lag) > 0)
  await deliveries.close()
  await eventually(async () => (await webhookIn(store, 'fast')).owner === undefined)
  slow.respond = status(204)
  deliver()
  t.same(plantsIn((await slow.until(76)).slice(16)), idsFrom(1, 60))
  t.equal(new Set(slow.received.map(({ id }) => id)).size, 60)
  t.equal(fast.received.length, 60, 'nothing was delivered twice')
})

t.test('changes of the operator apply within a second while deliveries run', async (t) => {
  // The verifier compares timestamps with the system's clock.
  const clock = new ManualClock()
  const { store, add, deliver } = await newPlace(t, { clock })
  const later = (condition: () => unknown) =>
    eventually(() => {
      clock.advance(1000)
      return condition()
    })
  deliver()
  const receiver = await startPlain(t)
  const [old, secret] = [newSecret(), newSecret()]
  await add('orders', receiver.url, { secret: old })
  await createPlants(store, 1, 1)
  await later(() => receiver.received.length === 1)
  await new WebhookStore(store).rotateSecret('orders', secret, new Date(clock.now() + 3_600_000))
  const isRotated = ({ headers }: Received) => String(headers['webhook-signature']).includes(' ')
  let id = 2
  await later(async () => {
    await createPlants(store, id++, 1)
    return receiver.received.some(isRotated)
  })
  const last = receiver.received.find(isRotated) as Received
  for (const each of [old, secret]) {
    t.ok(new Verifier(each).verify(last.body, last.headers as Record<string, string>))
  }

  await new WebhookStore(store).remove('orders')
  const other = await startPlain(t)
  await add('others', other.url)
  await createPlants(store, id, 1)
  await later(() => other.received.length === 1)
  const before = receiver.received.length
  await createPlants(store, id + 1, 1)
  await later(() => other.received.length === 2)
  t.equal(receiver.received.length, before)
})

t.test('a webhook that is resumed while its lease is renewed delivers at once', async (t) => {
  const { store, add, deliver, clock } = await newPlace(t)
  const receiver = await startPlain(t, { respond: status(503, { 'retry-after': '3600' }) })
  await add('orders', receiver.url)
  const begin = clock.now()
  let isResumed = false
  const webhooks = replacing(new WebhookStore(store), {
    lease: async (owner) => {
      const { attempts } = (await webhookIn(store, 'orders')).progress
      if (attempts > 0 && !isResumed)
        isResumed = await new WebhookStore(store).resume('orders', false)
      return new WebhookStore(store).lease(owner)
    },
  })
  deliver({ webhooks })
  await createPlants(store, 1, 1)
  await receiver.until(1)
  receiver.respond = status(204)
  await receiver.until(2)
  t.ok(isResumed)
  t.ok(clock.now() < begin + 3_000_000)
})

t.test('a stop does not wait for a store that does not respond', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startPlain(t)
  await add('orders', receiver.url)
  const { promise: saving, resolve } = Promise.withResolvers<void>()
  const webhooks = replacing(new WebhookStore(store), {
    saveProgress: () => {
      resolve()
      return new Promise(() => {})
    },
    release: async () => {
      t.fail('the progress is not saved')
    },
  })
  const deliveries = deliver({ webhooks })
  await createPlants(store, 1, 1)
  await saving
  await deliveries.close()
  t.pass('although the progress is never saved')
})

for (const method of ['lease', 'list'] as const) {
  t.test(`a stop during ${method} starts no deliveries, and releases the leases`, async (t) => {
    const { store, add, deliver } = await newPlace(t)
    const receiver = await startPlain(t)
    await add('orders', receiver.url)
    await createPlants(store, 1, 1)
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    let hasLease = false
    const closeIn = async <Result>(name: typeof method, result: Promise<Result>) => {
      await result
      if (name === method && hasLease) deliveries.close().then(resolve)
      return result
    }
    const webhooks = replacing(new WebhookStore(store), {
      list: () => closeIn('list', new WebhookStore(store).list()),
      lease: (owner) => {
        hasLease = true
        return closeIn('lease', new WebhookStore(store).lease(owner))
      },
    })
    const deliveries = deliver({ webhooks })
    await closed
    t.same(receiver.received, [])
    // A stop waits only a second for the store.
    await eventually(async () => (await webhookIn(store, 'orders')).owner === undefined)
  })
}

t.test('one change of the store is in flight, and progress is saved once a second', async (t) => {
  const { store, add, deliver, clock } = await newPlace(t)
  const receivers = await Promise.all([startPlain(t), startPlain(t)])
  const names = ['fast', 'other', 'skipping']
  for (const [index, name] of names.entries()) {
    const url = (receivers[index] ?? receivers[0])?.url ?? ''
    await add(name, url, index === 2 ? { events: ['plantRemoved'] } : {})
  }
  let inFlight = 0
  let savedAt: number | undefined
  let isClosing = false
  const alone = async <Result>(change: () => Promise<Result>) => {
    inFlight += 1
    t.equal(inFlight, 1)
    const result = await change()
    inFlight -= 1
    return result
  }
  const webhooks = replacing(new WebhookStore(store), {
    lease: (owner) => alone(() => new WebhookStore(store).lease(owner)),
    release: (owner) => alone(() => new WebhookStore(store).release(owner)),
    saveProgress: (progress) => {
      if (savedAt !== undefined && !isClosing) t.ok(clock.now() - savedAt >= 1000)
      savedAt = clock.now()
      return alone(() => new WebhookStore(store).saveProgress(progress))
    },
  })
  const deliveries = deliver({ webhooks })
  await createPlants(store, 1, 30)
  for (const receiver of receivers) await receiver.until(30)
  await eventually(() =>
    deliveries.figures().every(({ name, received }) => received === (name === 'skipping' ? 0 : 30)),
  )
  const end = (await store.readChanges({ after: 'latest', limit: 1 })) as ChangePage
  for (const name of names) {
    await eventually(async () => (await webhookIn(store, name)).progress.cursor === end.next)
  }
  isClosing = true
  await deliveries.close()
})

t.test('changes are read one page at a time', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  await createPlants(store, 1, 4)
  let cursor: string | undefined
  for (let number = 1; number <= 4; number++) {
    // Each begins elsewhere, so that they cannot share a page.
    await add(`webhook ${number}`, 'https://127.0.0.1:1', { events: ['plantRemoved'], cursor })
    const page = (await store.readChanges({ after: cursor, limit: 1 })) as ChangePage
    cursor = page.next
  }
  // In flight, or finished in this turn of the event loop.
  let current = 0
  let mostAtOnce = 0
  let reads = 0
  const readChanges = async (request: ChangesRequest) => {
    current += 1
    // Verified at the end: a read can still be queued when the test ends, and runs during the stop.
    mostAtOnce = Math.max(mostAtOnce, current)
    reads += 1
    // The first one fails, which does not prevent the others.
    if (reads === 1) {
      current -= 1
      throw new StoreUnavailable('failing', 'SQLITE_IOERR')
    }
    const page = await store.readChanges(request)
    setImmediate().then(() => {
      current -= 1
    })
    return page
  }
  deliver({ store: replacing(store, { readChanges }) })
  await eventually(async () => {
    const cursors = (await new WebhookStore(store).list()).map(({ progress }) => progress.cursor)
    return new Set(cursors).size === 1
  })
  t.equal(mostAtOnce, 1)
  t.ok(reads > 4, `${reads} pages`)
})

t.test(
  'if progress is refused because another process has saved some, delivery begins again',
  async (t) => {
    const { store, add, deliver } = await newPlace(t)
    const receiver = await startPlain(t)
    await add('orders', receiver.url)
    let refused = 0
    const webhooks = replacing(new WebhookStore(store), {
      saveProgress: async (saved) => {
        const isFirst = saved[0]?.progress.lastSuccessAt !== undefined && refused++ === 0
        return isFirst ? new Map() : new WebhookStore(store).saveProgress(saved)
      },
    })
    deliver({ webhooks })
    await createPlants(store, 1, 1)
    t.same(plantsOf(await receiver.until(2)), [1n, 1n])
  },
)

t.test('one process at a time delivers, and another continues after it', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receivers = await Promise.all([startPlain(t), startPlain(t), startPlain(t)])
  for (const [index, { url }] of receivers.entries()) await add(`webhook ${index}`, url)
  const processes = [deliver(), deliver()]
  await createPlants(store, 1, 20)
  for (const receiver of receivers) {
    t.same(plantsIn(await receiver.until(20)), idsFrom(1, 20))
  }
  const isDone = (each: (typeof processes)[0]) =>
    each.figures().every(({ received }) => received === 20)
  // Otherwise, the last deliveries could be abandoned, and repeated.
  await eventually(() => processes.some(isDone))
  t.equal(new Set((await new WebhookStore(store).list()).map(({ owner }) => owner)).size, 1)
  const [leader] = processes.filter(isDone)
  const lags = processes
    .filter((each) => each !== leader)[0]
    ?.figures()
    .map(({ lag }) => lag)
  t.same(lags, [undefined, undefined, undefined])
  await leader?.close()
  await createPlants(store, 21, 20)
  for (const receiver of receivers) {
    t.same(plantsIn((await receiver.until(40)).slice(20)), idsFrom(21, 20))
  }
})

t.test('a mirror delivers nothing until it is promoted', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startPlain(t)
  let reads = 0
  const webhooks = replacing(new WebhookStore(store), {
    list: async () => {
      reads++
      return new WebhookStore(store).list()
    },
  })
  const isReadAgain = () => {
    const before = reads
    return eventually(() => reads > before + 2)
  }
  await add('earlier', receiver.url)
  const deliveries = deliver({ webhooks })
  await eventually(() => deliveries.figures()[0]?.lag !== undefined)
  await makeMirror(store)
  await isReadAgain()
  await add('orders', receiver.url)
  const changes = each('put', [{ id: 1n, name: 'mirrored' }])
  await restrict(store, { expected: CONSISTENT, next: CONSISTENT, changes })
  await isReadAgain()
  t.same(receiver.received, [])
  t.match(deliveries.figures(), [
    { name: 'earlier', lag: undefined },
    { name: 'orders', lag: undefined },
  ])
  await new WebhookStore(store).remove('orders')
  await add('orders', receiver.url)
  await restrict(store, { expected: CONSISTENT, next: undefined })
  await createIn(store, { id: 2n, name: 'created' })
  t.same(plantsIn(await receiver.until(1)), [2n])
})

t.test('many webhooks share the connections', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startPlain(t, { respond: () => {} })
  for (let number = 1; number <= 16; number++) await add(`webhook ${number}`, receiver.url)
  await createPlants(store, 1, 20)
  deliver()
  await receiver.until(64)
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  t.equal(receiver.received.length, 64)
  t.equal(receiver.connections, 64)
  const first = plantsOf(receiver.received).filter((plant) => plant <= 4n)
  t.equal(first.length, 64, 'each has the same share')
})

for (const [what, error, logged] of [
  ['the store was unavailable', new StoreUnavailable('failing', 'SQLITE_IOERR'), []],
  [
    'a bug, which is logged',
    new TypeError('bug'),
    [
      'internal error of the webhooks',
      'internal error while delivering a webhook',
      'webhook delivery failed',
      'the webhook works again',
    ],
  ],
] as const) {
  t.test(`deliveries continue after ${what}`, async (t) => {
    const { store, add, deliver, log } = await newPlace(t)
    const receiver = await startPlain(t)
    await add('orders', receiver.url)
    const failures = { readChanges: 2, list: 1, saveProgress: 1, lease: 1 }
    const failing =
      <Arguments extends unknown[], Result>(
        name: keyof typeof failures,
        call: (...args: Arguments) => Promise<Result>,
      ) =>
      async (...args: Arguments) => {
        failures[name] -= 1
        if (failures[name] >= 0) throw error
        return call(...args)
      }
    const webhooks = replacing(new WebhookStore(store), {
      list: failing('list', () => new WebhookStore(store).list()),
      lease: failing('lease', (owner: string) => new WebhookStore(store).lease(owner)),
      saveProgress: failing(
        'saveProgress',
        (...progress: Parameters<WebhookStore['saveProgress']>) =>
          new WebhookStore(store).saveProgress(...progress),
      ),
      release: async () => {
        throw error
      },
    })
    const readChanges = failing('readChanges', (request: ChangesRequest) =>
      store.readChanges(request),
    )
    const deliveries = deliver({ store: replacing(store, { readChanges }), webhooks })
    await createPlants(store, 1, 3)
    t.same(plantsIn(await receiver.until(3)), [1n, 2n, 3n])
    await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
    await deliveries.close()
    t.ok((await webhookIn(store, 'orders')).owner, 'the lease ends by itself')
    t.same(new Set(log.map(({ msg }) => msg)), new Set(logged))
  })
}

for (const [what, shift] of [
  ['is not renewed, or the machine slept', (clock: ManualClock) => clock.advance(8000)],
  ['is uncertain, because the clock was set back', (clock: ManualClock) => clock.setBack(60_000)],
] as const) {
  t.test(`nothing is delivered while the lease ${what}`, async (t) => {
    const clock = new ManualClock()
    const { store, add, deliver } = await newPlace(t, { clock })
    const receiver = await startPlain(t)
    await add('orders', receiver.url)
    let isRenewing = true
    const webhooks = replacing(new WebhookStore(store), {
      lease: async (owner) => {
        if (!isRenewing) throw new StoreUnavailable('failing', 'SQLITE_IOERR')
        return new WebhookStore(store).lease(owner)
      },
    })
    const deliveries = deliver({ webhooks })
    await createPlants(store, 1, 1)
    await eventually(() => deliveries.figures()[0]?.received === 1)
    isRenewing = false
    // The next page is read after this time.
    clock.advance(100)
    shift(clock)
    await createPlants(store, 2, 1)
    await eventually(() => deliveries.figures()[0]?.lag === undefined)
    t.equal(receiver.received.length, 1)
    isRenewing = true
    await eventually(() => {
      clock.advance(1000)
      return receiver.received.length === 2
    })
    t.same(plantsOf(receiver.received), [1n, 2n], 'nothing is repeated')
  })
}

for (const [what, shift] of [
  ['', 0],
  [', even if the clock was set back a little', 4000],
] as const) {
  t.test(`an attempt is abandoned before the lease ends${what}`, async (t) => {
    const clock = new ManualClock()
    const { store, add, deliver, log } = await newPlace(t, { clock })
    const { promise: abandoned, resolve } = Promise.withResolvers<void>()
    const receiver = await startPlain(t, {
      respond: (response) => response.on('close', resolve),
    })
    await add('orders', receiver.url)
    await createPlants(store, 1, 1)
    deliver()
    await receiver.until(1)
    const { promise: never } = Promise.withResolvers<never>()
    t.capture(new WebhookStore(store), 'lease', () => never)
    clock.advance(5000)
    clock.setBack(shift)
    clock.advance(2999)
    t.equal(receiver.received.length, 1)
    clock.advance(1)
    await abandoned
    t.same(log, [])
  })
}

/** A store with other members. */
function replacing<Target extends object>(target: Target, members: Partial<Target>): Target {
  return new Proxy(target, {
    get: (_target, name) => {
      const member = members[name as keyof Target] ?? target[name as keyof Target]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
