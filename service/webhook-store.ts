import { randomUUID } from 'node:crypto'
import { known } from '../core/known.ts'
import { StoreUnavailable } from './store/plant-store.ts'
import {
  changeRecord,
  type RecordChange,
  type RecordKind,
  type RecordStore,
  type StoredRecord,
} from './store/record-store.ts'

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

/** A webhook as stored. */
export interface Webhook extends Omit<NewWebhook, 'cursor' | 'pausedAt'> {
  readonly progress: WebhookProgress
  /** Identifies the progress as it is stored. */
  readonly version: string
  /** The process that delivers to it, because it has the lease. Undefined if there is none, or the webhook is paused. */
  readonly owner?: string | undefined
}

/** New progress, and the version of the one that it replaces. */
type SavedProgress = Pick<Webhook, 'name' | 'progress' | 'version'>

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
  /** Random, if a process must not replace the progress by what it knows. */
  readonly renewed?: string | undefined
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
 * A lease that would last longer than any that is granted, because the clock was set back, has expired.
 */
export class WebhookStore {
  readonly #records: RecordStore

  constructor(records: RecordStore) {
    this.#records = records
  }

  /** Resolves to all webhooks, ordered by name in code point order. */
  async list(): Promise<Webhook[]> {
    const { webhooks, leader } = await this.#read()
    return webhooks.map(({ webhook, progress: { value: version } }) => {
      const { createdAt, previousUntil, ...value } = JSON.parse(webhook.value) as WebhookValue
      const progress = parseProgress(version)
      return {
        name: webhook.key,
        ...value,
        events: webhookEvents.filter((event) => value.events.includes(event)),
        previousSecret: value.previousSecret,
        previousUntil: toDate(previousUntil),
        createdAt: new Date(Number(createdAt)),
        progress,
        version,
        owner: progress.pausedAt === undefined ? leader : undefined,
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
          next: renew({ cursor, attempts: 0, pausedAt }),
        },
      ],
      'all-or-none',
    )
    if (results.every(Boolean)) return 'added'
    const isTaken = (await this.#records.findRecord('webhook', { key })) !== undefined
    return isTaken ? 'taken' : 'full'
  }

  /**
   * Removes a webhook. Resolves to false if there is none with the name.
   *
   * @param version only remove it if its progress is this one
   */
  remove(name: string, version?: string): Promise<boolean> {
    return this.#change(name, ({ webhook, progress }) => {
      if (version !== undefined && progress.value !== version) return []
      return [webhook, progress].map((record) => replace(record, undefined))
    })
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
   * Makes a webhook deliver at once, whether it is paused or waits for its next attempt. The process that delivers begins
   * again then. Resolves to false if there is none.
   *
   * @param fromOldest continue with the oldest retained change, instead of the next one
   */
  resume(name: string, fromOldest: boolean): Promise<boolean> {
    return this.#change(name, ({ progress }) => {
      const { cursor, lastSuccessAt, lastFailureAt, lastFailure } = parseProgress(progress.value)
      const last = { lastSuccessAt, lastFailureAt, lastFailure }
      const resumed = { cursor: fromOldest ? undefined : cursor, attempts: 0, ...last }
      return [replace(progress, renew(resumed))]
    })
  }

  /**
   * Takes or renews the lease. Resolves to false if another process has it.
   *
   * @param owner a name of the process that no other one has
   */
  async lease(owner: string): Promise<boolean> {
    const { now, lease, leader } = await this.#readLease()
    if (leader !== undefined && leader !== owner) return false
    const next = JSON.stringify({ owner, until: now + WEBHOOK_LEASE_MS } satisfies Lease)
    return changeRecord(this.#records, { ...LEASE, expected: lease, next })
  }

  /** Ends the lease of a process, so that another one can take it at once. */
  async release(owner: string): Promise<void> {
    const { lease, leader } = await this.#readLease()
    if (leader !== owner) return
    await changeRecord(this.#records, { ...LEASE, expected: lease, next: undefined })
  }

  /**
   * Replaces the progress of webhooks, unless it has changed since it was read. Resolves to the new versions of the others,
   * by name.
   */
  async saveProgress(saved: readonly SavedProgress[]): Promise<Map<string, string>> {
    const versions = new Map(saved.map(({ name, progress }) => [name, formatProgress(progress)]))
    const changes = saved.flatMap(({ name, version: expected }): RecordChange[] => {
      const next = versions.get(name)
      return next === expected ? [] : [{ kind: 'webhook-progress', key: name, expected, next }]
    })
    if (changes.length === 0) return versions
    const results = await this.#records.changeRecords(changes, 'each')
    for (const [index, { key }] of changes.entries()) if (!results[index]) versions.delete(key)
    return versions
  }

  /** @param others the other kinds of records to read at the same moment */
  async #readLease(...others: RecordKind[]) {
    const { now, records } = await this.#records.listRecords(['webhook-lease', ...others])
    const lease = records.find(({ kind }) => kind === 'webhook-lease')?.value
    /** The leader is the process that has the lease. */
    return { now, records, lease, leader: findLeader(lease, now) }
  }

  /** Resolves to the records of each webhook, and the process that delivers. */
  async #read() {
    const { records, leader } = await this.#readLease('webhook', 'webhook-progress')
    const progress = new Map(
      records.filter(({ kind }) => kind === 'webhook-progress').map((each) => [each.key, each]),
    )
    const webhooks = records
      .filter(({ kind }) => kind === 'webhook')
      .map((webhook) => ({ webhook, progress: known(progress.get(webhook.key)) }))
    return { webhooks, leader }
  }

  /** Changes the records of one webhook, all or none. Resolves to false if there is nothing to change. */
  async #change(
    name: string,
    change: (found: { webhook: StoredRecord; progress: StoredRecord }) => RecordChange[],
  ): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { webhooks } = await this.#read()
      const found = webhooks.find(({ webhook }) => webhook.key === name)
      const changes = found === undefined ? [] : change(found)
      if (changes.length === 0) return false
      const results = await this.#records.changeRecords(changes, 'all-or-none')
      if (results.every(Boolean)) return true
    }
    throw new StoreUnavailable('busy', `the webhook ${name} changes constantly`)
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

function parseProgress(value: string): WebhookProgress {
  const stored = JSON.parse(value) as ProgressValue
  const { cursor, attempts, lastFailure } = stored
  return {
    cursor,
    attempts,
    failingSince: toDate(stored.failingSince),
    nextAttemptAt: toDate(stored.nextAttemptAt),
    pausedAt: toDate(stored.pausedAt),
    lastSuccessAt: toDate(stored.lastSuccessAt),
    lastFailureAt: toDate(stored.lastFailureAt),
    lastFailure,
  }
}

/** The same progress has the same text. */
function formatProgress(progress: WebhookProgress, renewed?: string): string {
  const { cursor, attempts, lastFailure } = progress
  const times = PROGRESS_TIMES.map((name) => [name, time(progress[name])])
  return JSON.stringify({ cursor, attempts, ...Object.fromEntries(times), lastFailure, renewed })
}

/** Formats progress that differs from all other, so that no process can replace it that has read another. */
function renew(progress: WebhookProgress): string {
  return formatProgress(progress, randomUUID())
}

function time(date: Date | undefined): number | undefined {
  return date?.getTime()
}

function toDate(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}
