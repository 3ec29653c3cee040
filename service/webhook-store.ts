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
  /** The process that has the lease. Undefined if there is none, or if its lease has expired. */
  readonly owner?: string | undefined
}

/**
 * Stores webhooks, in the same database as the plants. A change is visible to every process from its next call.
 * It is not a change to a plant, so it is not in the ChangeFeed. Every method throws StoreUnavailable if the store is
 * temporarily unavailable.
 *
 * One process at a time delivers, to all webhooks: the one that has the lease. Each webhook has the name of that process
 * and the end of its lease. The lease is measured by the clock that all processes share: that of the machine on SQLite,
 * that of the server on PostgreSQL. A lease that would last longer than any that is granted, because the clock was set
 * back, has expired.
 */
export interface WebhookStore {
  /** Resolves to all webhooks, ordered by name in code point order. */
  list(): Promise<Webhook[]>

  /** Adds a webhook, unless its name is `taken`, or there are already WEBHOOKS_MAX (`full`). */
  add(webhook: NewWebhook): Promise<'added' | 'taken' | 'full'>

  /**
   * Removes a webhook. Resolves to false if there is none with the name.
   *
   * @param owner only remove it if this process has the lease
   */
  remove(name: string, owner?: string): Promise<boolean>

  /** Replaces the secret, and keeps the current one as the previous one until a time. False if there is none. */
  rotateSecret(name: string, secret: string, previousUntil: Date): Promise<boolean>

  /**
   * Makes a webhook deliver at once, whether it is paused or waits for its next attempt. Ends its lease, so that the
   * process cannot save progress that it made before. Resolves to false if there is none.
   *
   * @param fromOldest continue with the oldest retained change, instead of the next one
   */
  resume(name: string, fromOldest: boolean): Promise<boolean>

  /**
   * Takes or renews the lease of all webhooks that are not paused. Resolves to the names of those that the process did
   * not have before, or undefined if another process has the lease of any webhook.
   *
   * @param owner a name of the process that no other one has
   */
  lease(owner: string): Promise<string[] | undefined>

  /** Ends the lease of a process, so that another one can take it at once. */
  release(owner: string): Promise<void>

  /**
   * Replaces the progress of webhooks. If that pauses a webhook, its lease ends. Does not change those whose lease the
   * process does not have. Resolves to the names of the others.
   */
  saveProgress(owner: string, progress: readonly SavedProgress[]): Promise<string[]>
}

/** How long a lease lasts. If a process dies, another one can deliver after this time. */
export const WEBHOOK_LEASE_MS = 10_000
