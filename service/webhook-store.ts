import { StoreUnavailable } from './plant-store.ts'
import {
  changeRecord,
  type RecordChange,
  type RecordKind,
  type RecordStore,
  type StoredRecord,
} from './record-store.ts'

/** The events that a webhook can subscribe to, under their names in the contract. */
export const webhookEvents = ['newPlant', 'plantChanged', 'plantRemoved'] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** How many webhooks a store can have. Each takes connections and memory. */
export const WEBHOOKS_MAX = 100

/** A webhook as the operator registers it, or copies it from another database. */
export interface NewWebhook {
  /** Unique. Identifies the webhook to the operator. */
  readonly name: string
  readonly url: string
  /** Without repetitions. */
  readonly events: readonly WebhookEvent[]
  /** Signs deliveries. Starts with `whsec_`. */
  readonly secret: string
  readonly createdAt: Date
  /** Deliver the changes after this cursor of the ChangeFeed. Undefined means from the oldest retained change. */
  readonly cursor?: string | undefined
  /** The secret before the last rotation. Deliveries are also signed with it until `previousUntil`. */
  readonly previousSecret?: string | undefined
  readonly previousUntil?: Date | undefined
  /** See WebhookProgress. */
  readonly pausedAt?: Date | undefined
}

/** The progress of the deliveries to a webhook. */
export interface WebhookProgress {
  /** All changes up to this cursor were delivered or skipped. See NewWebhook. */
  readonly cursor?: string | undefined
  /** How often deliveries have failed since the last success. Attempts at the same time count as one. */
  readonly attempts: number
  /** When the first of these failed. */
  readonly failingSince?: Date | undefined
  /** The earliest moment of the next attempt. Undefined means immediately. */
  readonly nextAttemptAt?: Date | undefined
  /** Set if deliveries have stopped until the operator resumes them. */
  readonly pausedAt?: Date | undefined
  readonly lastSuccessAt?: Date | undefined
  readonly lastFailureAt?: Date | undefined
  /** The reason of the last failure, in one line. */
  readonly lastFailure?: string | undefined
}

/** The progress of the webhook with a name. */
export interface SavedProgress {
  readonly name: string
  readonly progress: WebhookProgress
}

/** A webhook as stored. */
export interface Webhook extends Omit<NewWebhook, 'cursor' | 'pausedAt'> {
  readonly progress: WebhookProgress
  /** The process that delivers to it. Undefined if there is none, or if its lease has expired. */
  readonly owner?: string | undefined
}

/** How long a lease lasts. If a process dies, another one can deliver after this time. */
export const WEBHOOK_LEASE_MS = 10_000

/** What a WebhookStore does. */
export type Webhooks = Pick<WebhookStore, keyof WebhookStore>

/** The values of records. Times are in milliseconds since 1970. */
type Times<Value, Names extends keyof Value> = Omit<Value, Names> & {
  readonly [Name in Names]?: number | undefined
}

/** The record of the kind `webhook`: what the operator sets. */
type WebhookValue = Times<
  Omit<NewWebhook, 'name' | 'cursor' | 'pausedAt'>,
  'createdAt' | 'previousUntil'
>

/** The record of the kind `webhook-progress`, with the same key. */
interface ProgressValue extends Times<WebhookProgress, (typeof PROGRESS_TIMES)[number]> {
  /** The process that delivers, if it still has the lease. */
  readonly owner?: string | undefined
}

const PROGRESS_TIMES = [
  'failingSince',
  'nextAttemptAt',
  'pausedAt',
  'lastSuccessAt',
  'lastFailureAt',
] as const

/** The only record of the kind `webhook-lease`. */
interface Lease {
  readonly owner: string
  readonly until: number
}

const LEASE = { kind: 'webhook-lease', key: 'lease' } as const

/** How often a change is repeated if others change the same record meanwhile. */
const ATTEMPTS_MAX = 100

/**
 * The webhooks in a store. Every method throws StoreUnavailable if the store is temporarily unavailable.
 *
 * One process at a time delivers, to all webhooks: the one that has the lease. It is measured by the clock of the store.
 * A lease that would last longer than any that is granted, because the clock was set back, has expired. The progress of
 * each webhook has the name of its owner, the process that has read it since it had the lease.
 */
export class WebhookStore {
  readonly #records: RecordStore

  constructor(records: RecordStore) {
    this.#records = records
  }

  /** Resolves to all webhooks, ordered by name in code point order. */
  async list(): Promise<Webhook[]> {
    const { records, progress, leader } = await this.#read()
    return records.flatMap(({ key, value }) => {
      const found = progress.get(key)
      if (found === undefined) return []
      const { owner, ...rest } = parseProgress(found)
      const { createdAt, previousUntil, ...webhook } = JSON.parse(value) as WebhookValue
      return {
        name: key,
        ...webhook,
        events: webhookEvents.filter((event) => webhook.events.includes(event)),
        previousSecret: webhook.previousSecret,
        previousUntil: toDate(previousUntil),
        createdAt: new Date(Number(createdAt)),
        progress: rest,
        owner: owner === leader ? owner : undefined,
      }
    })
  }

  /** Adds a webhook, unless its name is `taken`, or there are already WEBHOOKS_MAX (`full`). */
  async add(webhook: NewWebhook): Promise<'added' | 'taken' | 'full'> {
    const { name: key, cursor, pausedAt, createdAt, previousUntil, ...rest } = webhook
    const value = { ...rest, createdAt: time(createdAt), previousUntil: time(previousUntil) }
    const added = { key, expected: undefined, max: WEBHOOKS_MAX }
    const results = await this.#records.changeRecords(
      [
        { ...added, kind: 'webhook', next: JSON.stringify(value) },
        {
          ...added,
          kind: 'webhook-progress',
          next: formatProgress({ cursor, attempts: 0, pausedAt }),
        },
      ],
      'all-or-none',
    )
    if (results.every(Boolean)) return 'added'
    const { records } = await this.#records.listRecords(['webhook'])
    return records.some((record) => record.key === key) ? 'taken' : 'full'
  }

  /**
   * Removes a webhook. Resolves to false if there is none with the name.
   *
   * @param owner only remove it if this process is its owner
   */
  async remove(name: string, owner?: string): Promise<boolean> {
    const isRemoved = await this.#change(name, ({ webhook, progress }) => {
      if (owner !== undefined && parseProgress(progress).owner !== owner) return []
      return [webhook, progress].map((record) => replace(record, undefined))
    })
    return isRemoved
  }

  /** Replaces the secret, and keeps the current one as the previous one until a time. False if there is none. */
  rotateSecret(name: string, secret: string, previousUntil: Date): Promise<boolean> {
    return this.#change(name, ({ webhook }) => {
      const value = JSON.parse(webhook.value) as WebhookValue
      const rotated = { previousSecret: value.secret, secret, previousUntil: time(previousUntil) }
      return [replace(webhook, JSON.stringify({ ...value, ...rotated }))]
    })
  }

  /**
   * Makes a webhook deliver at once, whether it is paused or waits for its next attempt. It has no owner then, so that the
   * process cannot save progress that it made before. Resolves to false if there is none.
   *
   * @param fromOldest continue with the oldest retained change, instead of the next one
   */
  resume(name: string, fromOldest: boolean): Promise<boolean> {
    return this.#change(name, ({ progress }) => {
      const { cursor, lastSuccessAt, lastFailureAt, lastFailure } = parseProgress(progress)
      const last = { lastSuccessAt, lastFailureAt, lastFailure }
      const resumed = { cursor: fromOldest ? undefined : cursor, attempts: 0, ...last }
      return [replace(progress, formatProgress(resumed))]
    })
  }

  /**
   * Takes or renews the lease, and owns all webhooks that are not paused. Resolves to the names of those that the process
   * did not own before, or undefined if another process has the lease.
   *
   * @param owner a name of the process that no other one has
   */
  async lease(owner: string): Promise<string[] | undefined> {
    const { leader, lease, now, progress } = await this.#read()
    if (leader !== undefined && leader !== owner) return undefined
    const next = JSON.stringify({ owner, until: now + WEBHOOK_LEASE_MS } satisfies Lease)
    const isLeased = await changeRecord(this.#records, { ...LEASE, expected: lease, next })
    if (!isLeased) return undefined
    const taken = [...progress.values()].flatMap((record) => {
      const value = parseProgress(record)
      const isOwn = value.owner === owner || value.pausedAt !== undefined
      return isOwn ? [] : replace(record, formatProgress({ ...value, owner }))
    })
    return this.#changeEach(taken)
  }

  /** Ends the lease of a process, so that another one can take it at once. */
  async release(owner: string): Promise<void> {
    const { leader, lease } = await this.#read()
    if (leader !== owner) return
    await changeRecord(this.#records, { ...LEASE, expected: lease, next: undefined })
  }

  /**
   * Replaces the progress of webhooks. If that pauses a webhook, it has no owner any more. Does not change those that the
   * process does not own. Resolves to the names of the others.
   */
  async saveProgress(owner: string, saved: readonly SavedProgress[]): Promise<string[]> {
    if (saved.length === 0) return []
    const { progress } = await this.#read()
    const changes = saved.flatMap(({ name, progress: next }) => {
      const record = progress.get(name)
      if (record === undefined || parseProgress(record).owner !== owner) return []
      const isPaused = next.pausedAt !== undefined
      return replace(record, formatProgress(isPaused ? next : { ...next, owner }))
    })
    return this.#changeEach(changes)
  }

  async #read() {
    const { now, records } = await this.#records.listRecords([
      'webhook',
      'webhook-progress',
      'webhook-lease',
    ])
    const ofKind = (kind: RecordKind) => records.filter((record) => record.kind === kind)
    const lease = ofKind('webhook-lease')[0]?.value
    return {
      now,
      records: ofKind('webhook'),
      progress: new Map(ofKind('webhook-progress').map((record) => [record.key, record])),
      lease,
      /** The process that has the lease. */
      leader: findLeader(lease, now),
    }
  }

  /** Changes the records of one webhook, all or none. Resolves to false if there is nothing to change. */
  async #change(
    name: string,
    change: (records: { webhook: StoredRecord; progress: StoredRecord }) => RecordChange[],
  ): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { records, progress } = await this.#read()
      const webhook = records.find(({ key }) => key === name)
      const found = progress.get(name)
      if (webhook === undefined || found === undefined) return false
      const changes = change({ webhook, progress: found })
      if (changes.length === 0) return false
      const results = await this.#records.changeRecords(changes, 'all-or-none')
      if (results.every(Boolean)) return true
    }
    throw new StoreUnavailable('busy', `the webhook ${name} changes constantly`)
  }

  /** Resolves to the keys of the records that were changed. */
  async #changeEach(changes: readonly RecordChange[]): Promise<string[]> {
    if (changes.length === 0) return []
    const results = await this.#records.changeRecords(changes, 'each')
    return changes.filter((_, index) => results[index]).map(({ key }) => key)
  }
}

function replace({ kind, key, value }: StoredRecord, next: string | undefined): RecordChange {
  return { kind, key, expected: value, next }
}

/** The process that has a lease. One that would last too long was granted before the clock was set back. */
function findLeader(lease: string | undefined, now: number): string | undefined {
  if (lease === undefined) return undefined
  const { owner, until } = JSON.parse(lease) as Lease
  return until > now && until <= now + WEBHOOK_LEASE_MS ? owner : undefined
}

type OwnedProgress = WebhookProgress & Pick<ProgressValue, 'owner'>

function parseProgress({ value }: StoredRecord): OwnedProgress {
  const stored = JSON.parse(value) as ProgressValue
  const { cursor, attempts, lastFailure, owner } = stored
  return {
    cursor,
    attempts,
    failingSince: toDate(stored.failingSince),
    nextAttemptAt: toDate(stored.nextAttemptAt),
    pausedAt: toDate(stored.pausedAt),
    lastSuccessAt: toDate(stored.lastSuccessAt),
    lastFailureAt: toDate(stored.lastFailureAt),
    lastFailure,
    owner,
  }
}

function formatProgress(progress: OwnedProgress): string {
  const times = PROGRESS_TIMES.map((name) => [name, time(progress[name])])
  return JSON.stringify({ ...progress, ...Object.fromEntries(times) })
}

function time(date: Date | undefined): number | undefined {
  return date?.getTime()
}

function toDate(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}
