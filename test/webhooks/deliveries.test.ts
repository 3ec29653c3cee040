import { setImmediate } from 'node:timers/promises'
import { Webhook as Verifier } from 'standardwebhooks'
import t from 'tap'
import type { ChangesPage, ChangesRequest } from '../../service/change-feed.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { webhookEvents } from '../../service/webhook-store.ts'
import { newSecret } from '../../src/webhooks/signature.ts'
import { contract, dereference, schemaErrors } from '../helpers/contract-check.ts'
import { type Received, type Respond, startReceiver, status } from './receiver.ts'
import { createPlants, eventually, FastClock, idsFrom, newPlace, webhookIn } from './setting.ts'

const plantsOf = (received: readonly Received[]) => received.map(({ plant }) => plant)

t.test('every change is delivered in order, as the contract describes it', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t)
  const secret = newSecret()
  await store.create({ id: 99n, name: 'before the webhook' })
  await add('all', receiver.url, { events: webhookEvents, secret })
  deliver()
  const id = -(2n ** 63n)
  await store.create({ id, name: 'Tännle "\u{1f332}"', tag: '' })
  await store.create({ id, name: 'Tännle "\u{1f332}"', tag: '' })
  await store.update(id, { tag: null })
  await store.remove(id)
  const received = await receiver.until(3)
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
    const receiver = await startReceiver(t)
    await createPlants(store, 1, 500)
    await add('removals', receiver.url, { events: ['plantRemoved'], cursor: undefined })
    await store.remove(7n)
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

t.test('failed deliveries are repeated with the same id, before later ones', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const respond: Respond = (response, index) => response.writeHead(index < 3 ? 500 : 204).end()
  const receiver = await startReceiver(t, { respond })
  await add('orders', receiver.url)
  const clock = new FastClock()
  deliver({ clock })
  await createPlants(store, 1, 2)
  const received = await receiver.until(5)
  t.same(plantsOf(received), [1n, 1n, 1n, 1n, 2n])
  t.equal(new Set(received.slice(0, 4).map(({ id }) => id)).size, 1)
  t.not(received[4]?.id, received[0]?.id)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
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
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(429, { 'retry-after': '600' }) })
  await add('orders', receiver.url)
  const first = deliver()
  await createPlants(store, 1, 1)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.nextAttemptAt)
  const { nextAttemptAt, lastFailureAt } = (await webhookIn(store, 'orders')).progress
  t.equal(Number(nextAttemptAt) - Number(lastFailureAt), 600_000)
  await first.close()
  receiver.respond = status(204)
  const clock = new FastClock()
  deliver({ clock })
  t.same(plantsOf(await receiver.until(2)), [1n, 1n])
  const [wait = 0] = clock.waits
  t.ok(wait > 590_000 && wait <= 600_000, String(wait))
})

t.test('410 removes the webhook', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(410) })
  await add('orders', receiver.url)
  deliver()
  await createPlants(store, 1, 3)
  await eventually(() => log.length > 0)
  t.same(await store.webhooks.list(), [])
  t.equal(receiver.received.length, 1)
  t.match(log, [
    { level: 40, webhook: 'orders', msg: /removed, because its receiver returned 410/ },
  ])
})

t.test('a webhook that fails for three days is paused, and can be resumed', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(503) })
  await add('orders', receiver.url)
  const clock = new FastClock()
  const started = clock.now()
  const deliveries = deliver({ clock })
  await createPlants(store, 1, 2)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.pausedAt)
  const { progress, owner } = await webhookIn(store, 'orders')
  t.ok(Number(progress.pausedAt) - started >= 3 * 86_400_000)
  t.ok(Number(progress.pausedAt) - started < 3 * 86_400_000 + 3_700_000)
  t.ok(progress.attempts > 72 && progress.attempts < 120, String(progress.attempts))
  t.match(progress, { lastFailure: 'status 503', nextAttemptAt: undefined })
  t.equal(owner, undefined)
  t.match(log.at(-1), {
    level: 40,
    webhook: 'orders',
    reason: 'status 503',
    msg: /paused.*plant-store webhook retry/,
  })
  const failed = receiver.received.length
  t.match(deliveries.figures(), [{ name: 'orders', failed, received: 0 }])
  await eventually(() => deliveries.figures()[0]?.isPaused)
  t.equal(deliveries.figures()[0]?.lag, undefined)
  receiver.respond = status(204)
  await store.webhooks.resume('orders', false)
  const received = await receiver.until(failed + 2)
  t.same(plantsOf(received).slice(-2), [1n, 2n])
  t.equal(received.at(-2)?.id, received[0]?.id)
})

t.test('a failure before the clock was set back counts from then on', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(500) })
  await add('orders', receiver.url)
  await store.webhooks.lease('earlier')
  const future = new Date(Date.now() + 30 * 86_400_000)
  const { progress } = await webhookIn(store, 'orders')
  const failing = { ...progress, attempts: 1, failingSince: future, nextAttemptAt: future }
  await store.webhooks.saveProgress('earlier', [{ name: 'orders', progress: failing }])
  await store.webhooks.release('earlier')
  const waits: number[] = []
  const clock = {
    now: Date.now,
    wait: async (milliseconds: number, signal: AbortSignal) => {
      waits.push(milliseconds)
      while (waits.length > 1 && !signal.aborted) await setImmediate()
    },
  }
  deliver({ clock })
  await createPlants(store, 1, 1)
  await receiver.until(1)
  t.equal(waits[0], 3_600_000, 'it does not wait for a month')
  await eventually(async () => (await webhookIn(store, 'orders')).progress.attempts === 2)
  t.ok(Number((await webhookIn(store, 'orders')).progress.failingSince) <= Date.now())
})

const LOST = 'the changes after the last delivery are no longer kept'
const UNKNOWN = `${LOST} (--keep-changes, --keep-changes-bytes), or the database was restored`
const READ_AGAIN =
  'the webhook is paused because it has missed changes: run plant-store webhook retry --from-oldest, and have its ' +
  'receiver read all plants'

for (const [what, answer, reason, msg] of [
  ['no longer kept', 'expired', UNKNOWN, READ_AGAIN],
  ['of another database', 'malformed', UNKNOWN, READ_AGAIN],
  [
    'not logged',
    'off',
    'the change feed is off',
    'the webhook is paused: set --keep-changes, then run plant-store webhook retry',
  ],
] as const) {
  t.test(`a webhook is paused if its changes are ${what}`, async (t) => {
    const { store, add, deliver, log } = await newPlace(t)
    await add('orders', 'https://127.0.0.1:1')
    const deliveries = deliver({ store: replacing(store, { readChanges: async () => answer }) })
    await eventually(async () => (await webhookIn(store, 'orders')).progress.pausedAt)
    t.match((await webhookIn(store, 'orders')).progress, { attempts: 0, lastFailure: reason })
    t.match(log, [{ webhook: 'orders', reason, msg }])
    t.match(deliveries.figures(), [{ failed: 0 }])
  })
}

for (const [setting, keepChanges, reason] of [
  ['--keep-changes', 0, `${LOST}: they were older than --keep-changes`],
  [
    '--keep-changes-bytes',
    3_600_000,
    `${LOST}: together, they exceeded --keep-changes-bytes, or the database was restored`,
  ],
] as const) {
  t.test(`a webhook that lost changes because of ${setting} says so`, async (t) => {
    const { store, add, deliver, log } = await newPlace(t)
    const receiver = await startReceiver(t)
    await add('orders', receiver.url)
    let isLost = false
    const readChanges = async (request: ChangesRequest) =>
      isLost ? 'expired' : store.readChanges(request)
    deliver({ keepChanges, store: replacing(store, { readChanges }) })
    await createPlants(store, 1, 1)
    await receiver.until(1)
    await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
    isLost = true
    await createPlants(store, 2, 1)
    await eventually(async () => (await webhookIn(store, 'orders')).progress.pausedAt)
    t.match((await webhookIn(store, 'orders')).progress, { lastFailure: reason })
    t.match(log, [{ webhook: 'orders', reason, msg: READ_AGAIN }])
  })
}

t.test('a slow receiver does not affect another, and its attempt is abandoned', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const slow = await startReceiver(t, { respond: () => {} })
  const fast = await startReceiver(t)
  await add('slow', slow.url)
  await add('fast', fast.url)
  const deliveries = deliver({ timeoutMs: 600_000 })
  await createPlants(store, 1, 300)
  t.same(plantsOf(await fast.until(300)), idsFrom(1, 300))
  t.equal(slow.received.length, 1)
  await eventually(() => deliveries.figures()[0]?.received === 300)
  t.match(deliveries.figures(), [
    { name: 'fast', received: 300, failed: 0, isPaused: false },
    { name: 'slow', received: 0, failed: 0, isPaused: false },
  ])
  t.ok(Number(deliveries.figures()[1]?.lag) > 0)
  await deliveries.close()
  await eventually(async () => (await webhookIn(store, 'fast')).owner === undefined)
  slow.respond = status(204)
  deliver()
  t.same(plantsOf(await slow.until(301)).slice(1), idsFrom(1, 300))
  t.equal(slow.received[0]?.id, slow.received[1]?.id)
  t.equal(fast.received.length, 300, 'nothing was delivered twice')
})

t.test('changes of the operator apply while deliveries run', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  deliver()
  const receiver = await startReceiver(t)
  const [old, secret] = [newSecret(), newSecret()]
  await add('orders', receiver.url, { secret: old })
  await createPlants(store, 1, 1)
  const verify = (secret: string, { body, headers }: Received) =>
    new Verifier(secret).verify(body, headers as Record<string, string>)
  const [first] = (await receiver.until(1)) as [Received]
  t.ok(verify(old, first))
  t.throws(() => verify(secret, first))

  await store.webhooks.rotateSecret('orders', secret, new Date(Date.now() + 60_000))
  let id = 2
  await eventually(async () => {
    await createPlants(store, id++, 1)
    const received = await receiver.until(id - 1)
    return String(received.at(-1)?.headers['webhook-signature']).includes(' ')
  })
  const last = receiver.received.at(-1) as Received
  t.ok(verify(old, last))
  t.ok(verify(secret, last))

  await store.webhooks.remove('orders')
  const other = await startReceiver(t)
  await add('others', other.url)
  await createPlants(store, id, 1)
  await other.until(1)
  await eventually(async () => {
    const before = receiver.received.length
    await createPlants(store, ++id, 1)
    await other.until(({ plant }) => plant === BigInt(id))
    return receiver.received.length === before
  })
})

t.test('resuming a webhook ends its wait', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(503, { 'retry-after': '3600' }) })
  await add('orders', receiver.url)
  deliver()
  await createPlants(store, 1, 1)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.nextAttemptAt)
  receiver.respond = status(204)
  await store.webhooks.resume('orders', false)
  await receiver.until(2)
})

t.test('a webhook that is resumed while its lease is renewed delivers at once', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(503, { 'retry-after': '3600' }) })
  await add('orders', receiver.url)
  let isResumed = false
  const webhooks = replacing(store.webhooks, {
    lease: async (owner) => {
      const { attempts } = (await webhookIn(store, 'orders')).progress
      if (attempts > 0 && !isResumed) isResumed = await store.webhooks.resume('orders', false)
      return store.webhooks.lease(owner)
    },
  })
  deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 1)
  await receiver.until(1)
  receiver.respond = status(204)
  await receiver.until(2)
  t.ok(isResumed)
})

t.test('the lag is known while a retry that an earlier process has planned is due', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t, { respond: status(503, { 'retry-after': '3600' }) })
  await add('orders', receiver.url)
  const first = deliver()
  await createPlants(store, 1, 1)
  await receiver.until(1)
  await eventually(() => first.figures()[0]?.failed === 1)
  await first.close()
  const second = deliver()
  await eventually(() => Number(second.figures()[0]?.lag) > 0)
  t.equal(receiver.received.length, 1)
})

t.test('a stop does not wait for a store that does not respond', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  const { promise: saving, resolve } = Promise.withResolvers<void>()
  const webhooks = replacing(store.webhooks, {
    saveProgress: () => {
      resolve()
      return new Promise(() => {})
    },
    release: async () => {
      t.fail('the progress is not saved')
    },
  })
  const deliveries = deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 1)
  await saving
  await deliveries.close()
  t.pass('although the progress is never saved')
})

for (const method of ['lease', 'list'] as const) {
  t.test(`a stop during ${method} starts no deliveries, and releases the leases`, async (t) => {
    const { store, add, deliver } = await newPlace(t)
    const receiver = await startReceiver(t)
    await add('orders', receiver.url)
    await createPlants(store, 1, 1)
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    let hasLease = false
    const closeIn = async <Result>(name: typeof method, result: Promise<Result>) => {
      await result
      if (name === method && hasLease) deliveries.close().then(resolve)
      return result
    }
    const webhooks = replacing(store.webhooks, {
      list: () => closeIn('list', store.webhooks.list()),
      lease: (owner) => {
        hasLease = true
        return closeIn('lease', store.webhooks.lease(owner))
      },
    })
    const deliveries = deliver({ store: replacing(store, { webhooks }) })
    await closed
    t.same(receiver.received, [])
    // A stop waits only a second for the store.
    await eventually(async () => (await webhookIn(store, 'orders')).owner === undefined)
  })
}

t.test('one change of the store is in flight for all webhooks', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
  const names = ['fast', 'other', 'skipping']
  for (const [index, name] of names.entries()) {
    const url = (receivers[index] ?? receivers[0])?.url ?? ''
    await add(name, url, index === 2 ? { events: ['plantRemoved'] } : {})
  }
  let inFlight = 0
  const saved: string[][] = []
  const alone = async <Result>(change: () => Promise<Result>) => {
    inFlight += 1
    t.equal(inFlight, 1)
    const result = await change()
    inFlight -= 1
    return result
  }
  const webhooks = replacing(store.webhooks, {
    lease: (owner) => alone(() => store.webhooks.lease(owner)),
    release: (owner) => alone(() => store.webhooks.release(owner)),
    saveProgress: (owner, progress) => {
      saved.push(progress.map(({ name }) => name).sort())
      return alone(() => store.webhooks.saveProgress(owner, progress))
    },
  })
  const deliveries = deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 100)
  for (const receiver of receivers) await receiver.until(100)
  await eventually(() =>
    deliveries
      .figures()
      .every(({ name, received }) => received === (name === 'skipping' ? 0 : 100)),
  )
  t.notOk(saved.flat().includes('skipping'), 'skipping is cheap to repeat')
  await deliveries.close()
  // A stop waits only a second for the store.
  await eventually(() => saved.at(-1)?.includes('skipping'))
  t.ok(saved.length < 20, String(saved.length))
  const end = (await store.readChanges({ after: 'latest', limit: 1 })) as ChangesPage
  for (const name of ['fast', 'other']) {
    await eventually(async () => (await webhookIn(store, name)).progress.cursor === end.next)
  }
})

t.test('if progress is refused because the lease was lost, delivery begins again', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  let refused = 0
  const webhooks = replacing(store.webhooks, {
    saveProgress: async (...progress) =>
      refused++ === 0 ? [] : store.webhooks.saveProgress(...progress),
  })
  deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 1)
  t.same(plantsOf(await receiver.until(2)), [1n, 1n])
})

t.test('one process at a time delivers, and another continues after it', async (t) => {
  const { store, add, deliver, database } = await newPlace(t)
  const receivers = await Promise.all([startReceiver(t), startReceiver(t), startReceiver(t)])
  for (const [index, { url }] of receivers.entries()) await add(`webhook ${index}`, url)
  const other = await newPlace(t, database)
  const processes = [deliver(), other.deliver()]
  await createPlants(store, 1, 100)
  for (const receiver of receivers) t.same(plantsOf(await receiver.until(100)), idsFrom(1, 100))
  const owners = new Set((await store.webhooks.list()).map(({ owner }) => owner))
  t.notOk(owners.has(undefined))
  const [first] = processes
  // Otherwise, the last deliveries could be abandoned, and repeated.
  await eventually(() =>
    receivers.every((_, index) =>
      processes.some((each) => each.figures()[index]?.received === 100),
    ),
  )
  await first?.close()
  await createPlants(store, 101, 100)
  for (const receiver of receivers) t.same(plantsOf(await receiver.until(200)), idsFrom(1, 200))
})

t.test('a process whose lease was taken stops', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  let isTaken = false
  const webhooks = replacing(store.webhooks, {
    saveProgress: async (owner, progress) =>
      isTaken ? [] : store.webhooks.saveProgress(owner, progress),
    lease: async (owner) => (isTaken ? { taken: [], renewed: [] } : store.webhooks.lease(owner)),
    list: async () => {
      const stored = await store.webhooks.list()
      return isTaken ? stored.map((each) => ({ ...each, owner: 'another' })) : stored
    },
  })
  const deliveries = deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 1)
  await receiver.until(1)
  isTaken = true
  await createPlants(store, 2, 1)
  await eventually(() => deliveries.figures()[0]?.lag === undefined)
  const before = receiver.received.length
  await createPlants(store, 3, 1)
  await deliveries.close()
  t.equal(receiver.received.length, before)
})

t.test('deliveries continue after the store was unavailable', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  const unavailable = new StoreUnavailable('failing', 'SQLITE_IOERR')
  const failures = { readChanges: 2, list: 1, saveProgress: 1, lease: 1 }
  const fail = (name: keyof typeof failures) => {
    failures[name] -= 1
    if (failures[name] >= 0) throw unavailable
  }
  const webhooks = replacing(store.webhooks, {
    list: async () => {
      fail('list')
      return store.webhooks.list()
    },
    lease: async (owner) => {
      fail('lease')
      return store.webhooks.lease(owner)
    },
    saveProgress: async (owner, progress) => {
      fail('saveProgress')
      return store.webhooks.saveProgress(owner, progress)
    },
    release: async () => {
      throw unavailable
    },
  })
  const failing = replacing(store, {
    webhooks,
    readChanges: async (request) => {
      fail('readChanges')
      return store.readChanges(request)
    },
  })
  const deliveries = deliver({ store: failing })
  await createPlants(store, 1, 3)
  t.same(plantsOf(await receiver.until(3)), [1n, 2n, 3n])
  await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
  await deliveries.close()
  t.ok((await webhookIn(store, 'orders')).owner, 'the lease ends by itself')
  t.same(log, [])
})

t.test('a bug is logged, and the delivery is repeated', async (t) => {
  const { store, add, deliver, log } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  let bugs = 0
  const buggy = async <Result>(call: () => Promise<Result>, max: number) => {
    bugs += 1
    if (bugs <= max) throw new TypeError('bug')
    return call()
  }
  const webhooks = replacing(store.webhooks, {
    list: () => buggy(() => store.webhooks.list(), 1),
    saveProgress: (owner, progress) => buggy(() => store.webhooks.saveProgress(owner, progress), 8),
  })
  deliver({
    clock: new FastClock(),
    store: replacing(store, {
      webhooks,
      readChanges: (request) => buggy(() => store.readChanges(request), 4),
    }),
  })
  await createPlants(store, 1, 1)
  await receiver.until(1)
  await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
  const errors = log.filter(({ level }) => level === 50).map(({ msg }) => msg)
  t.same(
    new Set(errors),
    new Set(['internal error of the webhooks', 'internal error while delivering a webhook']),
  )
})

t.test('without a certain lease, nothing is delivered', async (t) => {
  const { store, add, deliver } = await newPlace(t)
  const receiver = await startReceiver(t)
  await add('orders', receiver.url)
  let isRenewing = true
  const webhooks = replacing(store.webhooks, {
    lease: async (owner) => {
      if (!isRenewing) throw new StoreUnavailable('failing', 'SQLITE_IOERR')
      return store.webhooks.lease(owner)
    },
  })
  const deliveries = deliver({ store: replacing(store, { webhooks }) })
  await createPlants(store, 1, 1)
  await eventually(() => deliveries.figures()[0]?.received === 1)
  isRenewing = false
  // The machine slept: the leases have ended by its clock.
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + 60_000
  await createPlants(store, 2, 1)
  await eventually(async () => (await webhookIn(store, 'orders')).owner === undefined)
  Date.now = now
  t.equal(receiver.received.length, 1)
  isRenewing = true
  t.same(plantsOf(await receiver.until(2)), [1n, 2n])
})

/** A store with other members. */
function replacing<Target extends object>(target: Target, members: Partial<Target>): Target {
  return new Proxy(target, {
    get: (_target, name) => {
      const member = members[name as keyof Target] ?? target[name as keyof Target]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
