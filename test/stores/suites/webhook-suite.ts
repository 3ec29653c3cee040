import type { Test } from 'tap'
import {
  type NewWebhook,
  WEBHOOK_LEASE_MS,
  WEBHOOKS_MAX,
  type Webhook,
  type WebhookProgress,
  WebhookStore,
} from '../../../service/webhook-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { type Engine, opener } from '../store-suite.ts'

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
    t.strictSame(await listIn(store), [B, a, inOrder, é].map(toStored))
  })

  t.test('a webhook whose name is taken is not added', async (t) => {
    await new WebhookStore(store).add(newWebhook('a'))
    t.equal(
      await new WebhookStore(store).add(newWebhook('a', { url: 'https://other.example' })),
      'taken',
    )
    t.strictSame(await listIn(store), [toStored(newWebhook('a'))])
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

  t.test(
    'a process can remove a webhook only while its progress is the one it knows',
    async (t) => {
      const webhooks = new WebhookStore(store)
      await webhooks.add(newWebhook('a'))
      const version = await versionIn(store, 'a')
      await webhooks.resume('a', false)
      t.equal(await webhooks.remove('a', version), false)
      t.equal(await webhooks.remove('a', await versionIn(store, 'a')), true)
      t.same(await webhooks.list(), [])
    },
  )

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

  t.test('one process has the lease of all webhooks until it releases it', async (t) => {
    const webhooks = new WebhookStore(store)
    for (const name of ['a', 'b']) await webhooks.add(newWebhook(name))
    t.equal(await webhooks.lease('one'), true)
    t.equal(await webhooks.lease('other'), false)
    t.equal(await webhooks.lease('one'), true)
    await webhooks.add(newWebhook('c', { pausedAt: AT }))
    t.same(await ownersIn(store), ['one', 'one', undefined])
    t.equal(await webhooks.resume('c', false), true)
    await webhooks.release('other')
    t.same(await ownersIn(store), ['one', 'one', 'one'])
    await webhooks.release('one')
    t.same(await ownersIn(store), [undefined, undefined, undefined])
    t.equal(await webhooks.lease('other'), true)
  })

  t.test('exactly one of several processes gets the lease', async (t) => {
    const owners = Array.from({ length: 10 }, (_, index) => `process ${index}`)
    const leased = await Promise.all(owners.map((owner) => new WebhookStore(store).lease(owner)))
    t.equal(leased.filter(Boolean).length, 1)
  })

  t.test('progress is saved', async (t) => {
    const webhooks = new WebhookStore(store)
    await webhooks.add(newWebhook('a'))
    const recovered = { ...toStored(newWebhook('a')).progress, cursor: 'another' }
    for (const progress of [PROGRESS, recovered, recovered]) {
      t.equal(await save(store, 'a', progress), true)
      t.strictSame((await webhooks.list())[0]?.progress, progress)
    }
  })

  t.test(
    'the progress of several webhooks is saved in one call, except what has changed',
    async (t) => {
      const webhooks = new WebhookStore(store)
      for (const name of ['a', 'b', 'c']) await webhooks.add(newWebhook(name))
      const known = await webhooks.list()
      await webhooks.resume('b', false)
      const paused = { attempts: 3, lastFailure: '"\u{1f332}\\', pausedAt: AT }
      const changed = known.map(({ name, version }) => {
        return { name, version, progress: name === 'c' ? paused : PROGRESS }
      })
      const removed = { name: 'removed', version: known[0]?.version ?? '', progress: PROGRESS }
      const saved = await webhooks.saveProgress([...changed, removed])
      t.strictSame(
        saved,
        new Map([
          ['a', await versionIn(store, 'a')],
          ['c', await versionIn(store, 'c')],
        ]),
      )
      t.match(await webhooks.list(), [
        { progress: PROGRESS },
        { progress: { attempts: 0 } },
        { progress: paused },
      ])
      t.same(await webhooks.saveProgress([]), new Map())
    },
  )

  t.test('a resumed webhook continues, or begins with the oldest change', async (t) => {
    const webhooks = new WebhookStore(store)
    await webhooks.add(newWebhook('a'))
    t.equal(await save(store, 'a', { ...PROGRESS, pausedAt: AT }), true)
    t.equal(await webhooks.resume('b', false), false)
    t.equal(await webhooks.resume('a', false), true)
    const { lastSuccessAt, lastFailureAt, lastFailure, cursor } = PROGRESS
    t.strictSame((await webhooks.list())[0]?.progress, {
      ...toStored(newWebhook('a', { cursor })).progress,
      lastSuccessAt,
      lastFailureAt,
      lastFailure,
    })
    t.equal(await webhooks.resume('a', true), true)
    t.match(await webhooks.list(), [{ progress: { cursor: undefined, lastFailure } }])
  })

  for (const [what, replace] of [
    ['resumed', (webhooks: WebhookStore) => webhooks.resume('a', false)],
    [
      'removed and added again',
      async (webhooks: WebhookStore) => {
        await webhooks.remove('a')
        await webhooks.add(newWebhook('a'))
      },
    ],
  ] as const) {
    t.test(`a process cannot save what it knew before a webhook was ${what}`, async (t) => {
      const webhooks = new WebhookStore(store)
      await webhooks.add(newWebhook('a'))
      const [known] = (await webhooks.list()) as [Webhook]
      await replace(webhooks)
      t.same(await webhooks.saveProgress([{ ...known, progress: PROGRESS }]), new Map())
      t.match(await webhooks.list(), [{ progress: { attempts: 0 } }])
    })
  }
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
    t.equal(await webhooks.lease('one'), true)
    t.match(await webhooks.list(), [{ owner: 'one' }])
    await shift(milliseconds)
    t.match(await webhooks.list(), [{ owner: undefined }], what)
    t.equal(await webhooks.lease('other'), true, what)
    await webhooks.release('other')
  }
}

export function newWebhook(name: string, fields: Partial<NewWebhook> = {}): NewWebhook {
  const url = 'https://receiver.example/hook'
  return { name, url, events: ['newPlant'], secret: 'whsec_AAAA', createdAt: AT, ...fields }
}

function toStored({ cursor, pausedAt, ...webhook }: NewWebhook): Omit<Webhook, 'version'> {
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
  name: string,
  progress: WebhookProgress,
): Promise<boolean> {
  const version = await versionIn(store, name)
  return (await new WebhookStore(store).saveProgress([{ name, version, progress }])).has(name)
}

async function versionIn(store: Store, name: string): Promise<string> {
  const webhooks = await new WebhookStore(store).list()
  return webhooks.find((each) => each.name === name)?.version ?? ''
}

/** The webhooks without the versions of their progress. */
async function listIn(store: Store): Promise<Omit<Webhook, 'version'>[]> {
  return (await new WebhookStore(store).list()).map(({ version: _, ...webhook }) => webhook)
}

async function ownersIn(store: Store): Promise<(string | undefined)[]> {
  return (await new WebhookStore(store).list()).map(({ owner }) => owner)
}
