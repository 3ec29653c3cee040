import type { Test } from 'tap'
import {
  type NewWebhook,
  WEBHOOK_LEASE_MS,
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookProgress,
  WebhookStore,
} from '../../service/webhook-store.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { type Engine, opener } from './store-suite.ts'

const AT = new Date('2026-11-20T12:34:56.789Z')

const PROGRESS: WebhookProgress = {
  cursor: 'a-cursor_1',
  attempts: 3,
  failingSince: new Date(1),
  nextAttemptAt: new Date(2),
  pausedAt: undefined,
  lastSuccessAt: new Date(3),
  lastFailureAt: new Date(4),
  lastFailure: 'status 500',
}

/** The requirements of WebhookStore. */
export function webhookSuite(t: Test, engine: Engine): void {
  let store: Store
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
  })

  t.beforeEach(async () => {
    const { records } = await store.listRecords(['webhook', 'webhook-progress', 'webhook-lease'])
    const removals = records.map(({ kind, key, value }) => ({
      kind,
      key,
      expected: value,
      next: undefined,
    }))
    await store.changeRecords(removals, 'each')
  })

  t.test('webhooks are returned as they were added, ordered by name', async (t) => {
    const webhooks = [
      newWebhook('b', { events: ['plantRemoved', 'newPlant'], cursor: 'x-_1' }),
      newWebhook('a', { url: "https://it's.example/?q=\u{1f331}" }),
      newWebhook('B', { previousSecret: 'whsec_1', previousUntil: AT, pausedAt: new Date(1) }),
      newWebhook('é'),
    ]
    for (const webhook of webhooks) t.equal(await new WebhookStore(store).add(webhook), 'added')
    const [b, a, B, é] = webhooks as [NewWebhook, NewWebhook, NewWebhook, NewWebhook]
    const inOrder = { ...b, events: ['newPlant', 'plantRemoved'] as const }
    t.strictSame(await new WebhookStore(store).list(), [B, a, inOrder, é].map(toStored))
  })

  t.test('a webhook whose name is taken is not added', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    t.equal(
      await new WebhookStore(store).add(newWebhook('a', { url: 'https://other.example' })),
      'taken',
    )
    t.strictSame(await new WebhookStore(store).list(), [toStored(newWebhook('a'))])
  })

  t.test('the number of webhooks is limited, also for concurrent calls', async (t) => {
    const names = Array.from({ length: WEBHOOKS_MAX + 5 }, (_, index) => `webhook ${index}`)
    const results = await Promise.all(
      names.map((name) => new WebhookStore(store).add(newWebhook(name))),
    )
    t.equal(results.filter((result) => result === 'added').length, WEBHOOKS_MAX)
    t.equal(results.filter((result) => result === 'full').length, 5)
    const [{ name }] = (await new WebhookStore(store).list()) as [Webhook]
    t.equal(await new WebhookStore(store).remove(name), true)
    t.equal(await new WebhookStore(store).add(newWebhook('another')), 'added')
  })

  t.test('a process can remove only what it owns', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    t.equal(await new WebhookStore(store).remove('a', 'one'), false)
    await new WebhookStore(store).lease('one')
    t.equal(await new WebhookStore(store).remove('a', 'other'), false)
    t.equal(await new WebhookStore(store).remove('a', 'one'), true)
  })

  t.test('a rotation keeps the secret before it', async (t) => {
    await new WebhookStore(store).add(newWebhook('a', { secret: 'whsec_1' }))
    t.equal(await new WebhookStore(store).rotateSecret('b', 'whsec_2', AT), false)
    for (const secret of ['whsec_2', 'whsec_3']) {
      t.equal(await new WebhookStore(store).rotateSecret('a', secret, AT), true)
    }
    t.match(await new WebhookStore(store).list(), [
      { secret: 'whsec_3', previousSecret: 'whsec_2', previousUntil: AT },
    ])
  })

  t.test('one process has the lease of all webhooks until it releases them', async (t) => {
    for (const name of ['a', 'b']) await new WebhookStore(store).add(newWebhook(name))
    t.same((await new WebhookStore(store).lease('one'))?.sort(), ['a', 'b'])
    t.equal(await new WebhookStore(store).lease('other'), undefined)
    t.same(await new WebhookStore(store).lease('one'), [])
    await new WebhookStore(store).add(newWebhook('c'))
    t.equal(await new WebhookStore(store).lease('other'), undefined, 'not even a new one')
    t.same(await new WebhookStore(store).lease('one'), ['c'])
    t.same(await ownersIn(store), ['one', 'one', 'one'])
    await new WebhookStore(store).release('other')
    t.same(await ownersIn(store), ['one', 'one', 'one'])
    await new WebhookStore(store).release('one')
    t.same(await ownersIn(store), [undefined, undefined, undefined])
    t.same((await new WebhookStore(store).lease('other'))?.sort(), ['a', 'b', 'c'])
  })

  t.test('exactly one of several processes gets the lease', async (t) => {
    for (const name of ['a', 'b', 'c', 'd']) await new WebhookStore(store).add(newWebhook(name))
    const owners = Array.from({ length: 10 }, (_, index) => `process ${index}`)
    const leased = await Promise.all(owners.map((owner) => new WebhookStore(store).lease(owner)))
    const [leader] = leased.filter((names) => names !== undefined)
    t.same(leader?.sort(), ['a', 'b', 'c', 'd'])
    t.equal(leased.filter((names) => names === undefined).length, 9)
  })

  t.test('progress is saved by the owner alone', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    t.equal(await save(store, 'one', 'a', PROGRESS), false)
    await new WebhookStore(store).lease('one')
    t.equal(await save(store, 'one', 'b', PROGRESS), false)
    t.equal(await save(store, 'other', 'a', PROGRESS), false)
    t.match(await new WebhookStore(store).list(), [{ progress: { attempts: 0 } }])
    t.equal(await save(store, 'one', 'a', PROGRESS), true)
    t.strictSame((await new WebhookStore(store).list())[0]?.progress, PROGRESS)
    const recovered = { ...toStored(newWebhook('a')).progress, cursor: 'another' }
    t.equal(await save(store, 'one', 'a', recovered), true)
    t.strictSame((await new WebhookStore(store).list())[0]?.progress, recovered)
  })

  t.test('the progress of several webhooks is saved in one call', async (t) => {
    for (const name of ['a', 'b', 'c']) await new WebhookStore(store).add(newWebhook(name))
    await new WebhookStore(store).lease('one')
    await new WebhookStore(store).resume('b', false)
    const saved = await new WebhookStore(store).saveProgress('one', [
      { name: 'c', progress: { attempts: 3, lastFailure: '"\u{1f332}\\', pausedAt: AT } },
      { name: 'b', progress: PROGRESS },
      { name: 'a', progress: PROGRESS },
      { name: 'removed', progress: PROGRESS },
    ])
    t.same(saved.sort(), ['a', 'c'])
    t.match(await new WebhookStore(store).list(), [
      { progress: PROGRESS, owner: 'one' },
      { progress: { attempts: 0 }, owner: undefined },
      { progress: { attempts: 3, lastFailure: '"\u{1f332}\\', pausedAt: AT }, owner: undefined },
    ])
    t.same(await new WebhookStore(store).saveProgress('one', []), [])
  })

  t.test('a paused webhook is not leased until it is resumed', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    await new WebhookStore(store).lease('one')
    const paused = { ...PROGRESS, pausedAt: AT }
    t.equal(await save(store, 'one', 'a', paused), true)
    t.match(await new WebhookStore(store).list(), [{ owner: undefined, progress: paused }])
    t.same(await new WebhookStore(store).lease('one'), [])
    await new WebhookStore(store).release('one')
    t.equal(await new WebhookStore(store).resume('b', false), false)
    t.equal(await new WebhookStore(store).resume('a', false), true)
    const { lastSuccessAt, lastFailureAt, lastFailure, cursor } = PROGRESS
    t.strictSame((await new WebhookStore(store).list())[0]?.progress, {
      ...toStored(newWebhook('a', { cursor })).progress,
      lastSuccessAt,
      lastFailureAt,
      lastFailure,
    })
    t.same(await new WebhookStore(store).lease('other'), ['a'])
  })

  t.test('resuming a webhook ends its lease', async (t) => {
    await new WebhookStore(store).add(newWebhook('a', { cursor: 'old' }))
    await new WebhookStore(store).lease('one')
    t.equal(await new WebhookStore(store).resume('a', true), true)
    t.equal(await save(store, 'one', 'a', PROGRESS), false)
    t.match(await new WebhookStore(store).list(), [{ progress: { cursor: undefined } }])
    t.same(await new WebhookStore(store).lease('one'), ['a'], 'the next lease is new')
  })

  t.test('a webhook with the name of a removed one has no owner', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    await new WebhookStore(store).lease('one')
    await new WebhookStore(store).remove('a')
    await new WebhookStore(store).add(newWebhook('a'))
    t.equal(await save(store, 'one', 'a', PROGRESS), false)
  })
}

/**
 * Tests leases that have expired.
 *
 * @param shift adds milliseconds to the end of every lease, as if the clock had been set
 */
export async function testLeases(
  t: Test,
  store: Store,
  shift: (milliseconds: number) => Promise<void>,
): Promise<void> {
  const webhooks = new WebhookStore(store)
  await webhooks.add(newWebhook('a'))
  for (const [what, milliseconds] of [
    ['after its duration', -WEBHOOK_LEASE_MS],
    ['if the clock is set back', 3_600_000],
  ] as const) {
    t.same(await webhooks.lease('one'), ['a'])
    t.match(await webhooks.list(), [{ owner: 'one' }])
    await shift(milliseconds)
    t.match(await webhooks.list(), [{ owner: undefined }], what)
    t.same(await webhooks.lease('other'), ['a'], what)
    t.equal(await save(store, 'one', 'a', PROGRESS), false)
    await webhooks.release('other')
  }
}

export function newWebhook(name: string, fields: Partial<NewWebhook> = {}): NewWebhook {
  const url = 'https://receiver.example/hook'
  return { name, url, events: ['newPlant'], secret: 'whsec_AAAA', createdAt: AT, ...fields }
}

function toStored({ cursor, pausedAt, ...webhook }: NewWebhook): Webhook {
  return {
    previousSecret: undefined,
    previousUntil: undefined,
    ...webhook,
    progress: {
      cursor,
      attempts: 0,
      failingSince: undefined,
      nextAttemptAt: undefined,
      pausedAt,
      lastSuccessAt: undefined,
      lastFailureAt: undefined,
      lastFailure: undefined,
    },
    owner: undefined,
  }
}

/** Resolves to whether the progress was saved. */
export async function save(
  store: Store,
  owner: string,
  name: string,
  progress: WebhookProgress,
): Promise<boolean> {
  return (await new WebhookStore(store).saveProgress(owner, [{ name, progress }])).length === 1
}

async function ownersIn(store: Store): Promise<(string | undefined)[]> {
  return (await new WebhookStore(store).list()).map(({ owner }) => owner)
}
