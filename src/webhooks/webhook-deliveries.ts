import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { ChangeFeed } from '../../service/change-feed.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { SharedFeed } from '../../service/shared-feed.ts'
import type { Webhook, WebhookStore } from '../../service/webhook-store.ts'
import { type Clock, systemClock } from './clock.ts'
import type { DeliveryLoop } from './delivery-loop.ts'
import { LeaseTerm } from './lease-term.ts'
import { PageMemory } from './page-memory.ts'
import { ProgressSaver } from './progress-saver.ts'
import type { SenderOptions } from './sender.ts'
import { SerialFeed } from './serial-feed.ts'
import { untilAborted } from './until-aborted.ts'
import { type DeliveryCounts, WebhookLog } from './webhook-log.ts'

/** How often to look for changes by the operator, and for webhooks whose process has died. */
const POLL_MS = 500

/** The age at which leases are renewed. Several attempts to renew a lease can fail before it ends. */
const RENEWAL_MS = 3000

/** How long a stop can take. */
const CLOSE_MS = 1000

export interface WebhookDeliveriesOptions extends SenderOptions {
  readonly store: ChangeFeed & { readonly webhooks: WebhookStore }
  readonly log: FastifyBaseLogger
  /** How long changes are kept, in milliseconds. */
  readonly keepChanges: number
  readonly clock?: Clock
}

/** The state of a webhook in this process. */
export interface WebhookFigures extends DeliveryCounts {
  readonly name: string
  readonly isPaused: boolean
  /** How long the next change has been waiting, in seconds. Undefined if another process delivers the webhook. */
  readonly lag: number | undefined
}

/**
 * Delivers changes to the webhooks in a store. Other processes can do the same: each webhook is delivered by the one
 * that has its lease.
 *
 * Without webhooks, it costs one read of an empty table twice a second, and no module for deliveries is loaded.
 */
export class WebhookDeliveries {
  readonly #options: WebhookDeliveriesOptions
  readonly #clock: Clock
  readonly #events: WebhookLog
  /** Identifies the process in leases. */
  readonly #owner = randomUUID()
  readonly #term = new LeaseTerm()
  readonly #feed: SharedFeed
  readonly #memory = new PageMemory()
  readonly #saver: ProgressSaver
  readonly #loops = new Map<string, DeliveryLoop>()
  readonly #stop = new AbortController()
  readonly #polling: Promise<void>
  #webhooks: readonly Webhook[] = []
  /** Whether the process has ever asked for leases. */
  #mayOwn = false

  /** Starts to deliver. */
  constructor(options: WebhookDeliveriesOptions) {
    const { store, log, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#events = new WebhookLog(log)
    this.#feed = new SharedFeed(new SerialFeed(store))
    this.#saver = new ProgressSaver({
      save: (progress) => store.webhooks.saveProgress(this.#owner, progress),
      onLost: (name) => this.#drop(name),
      onError: (error) => this.#onError(error),
    })
    this.#polling = this.#poll()
  }

  /** The figures of all webhooks, by name. */
  figures(): WebhookFigures[] {
    return this.#webhooks.map(({ name, progress: { pausedAt } }) => {
      const loop = this.#loops.get(name)
      const since = loop?.waitingSince ?? this.#clock.now()
      return {
        name,
        ...this.#events.countsOf(name),
        isPaused: pausedAt !== undefined,
        lag: loop && Math.max(0, (this.#clock.now() - since) / 1000),
      }
    })
  }

  /**
   * Abandons deliveries in flight, which are repeated later, and lets other processes continue at once. Takes at most a
   * second: deliveries that are not saved by then are repeated, and the leases end by themselves.
   */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#term.close()
    const enough = new AbortController()
    const timer = setTimeout(() => enough.abort(), CLOSE_MS)
    await untilAborted(this.#finish(), enough.signal)
    clearTimeout(timer)
  }

  async #finish(): Promise<void> {
    const { webhooks } = this.#options.store
    const loops = [...this.#loops.values()]
    await Promise.all([this.#polling, ...loops.map((loop) => loop.stop())])
    const isSaved = await this.#saver.close()
    if (!isSaved || !this.#mayOwn) return
    this.#mayOwn = false
    await webhooks.release(this.#owner).catch(() => {})
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      // After a stop that took too long, the store is closed, and calls fail.
      await this.#refresh().catch((error) => signal.aborted || this.#onError(error))
      await systemClock.wait(POLL_MS, signal)
    }
  }

  #onError(error: unknown): void {
    if (error instanceof StoreUnavailable) return
    this.#options.log.error({ err: error }, 'internal error of the webhooks')
  }

  /** Brings the loops in line with the store. */
  async #refresh(): Promise<void> {
    const { webhooks } = this.#options.store
    this.#webhooks = await webhooks.list()
    this.#update()
    if (!this.#needsLease()) return
    const added = await this.#saver.exclusively(() => this.#lease())
    if (added.length === 0) return
    // Read again, because their last owner may have saved progress since the first time.
    this.#webhooks = await webhooks.list()
    for (const webhook of this.#webhooks) {
      if (added.includes(webhook.name) && this.#owns(webhook)) await this.#start(webhook)
    }
  }

  /** Stops the loops of webhooks that were removed or resumed, and updates the others. */
  #update(): void {
    const owned = new Map(
      this.#webhooks.filter((each) => this.#owns(each)).map((each) => [each.name, each]),
    )
    for (const [name, loop] of this.#loops) {
      const webhook = owned.get(name)
      if (webhook === undefined) this.#drop(name)
      else loop.update(webhook)
    }
    this.#events.retain(new Set(this.#webhooks.map(({ name }) => name)))
  }

  /** Whether there are leases to take or renew. */
  #needsLease(): boolean {
    const isDue = this.#term.age >= RENEWAL_MS
    return this.#webhooks
      .filter(({ progress }) => progress.pausedAt === undefined)
      .some(({ name, owner }) => {
        if (owner === undefined) return true
        return owner === this.#owner && (isDue || !this.#isKnown(name))
      })
  }

  /**
   * Takes and renews leases. Stops the loops of webhooks whose lease was lost, even if it could be taken again at once,
   * because another process, or the operator, may have changed the progress. Resolves to the names of webhooks that
   * need a loop.
   */
  async #lease(): Promise<string[]> {
    const requestedAt = LeaseTerm.now()
    this.#mayOwn = true
    const { taken, renewed } = await this.#options.store.webhooks.lease(this.#owner)
    if (this.#stop.signal.aborted) return []
    this.#term.renew(requestedAt)
    const lost = [...this.#loops.keys()].filter((name) => !renewed.includes(name))
    for (const name of [...lost, ...taken]) this.#drop(name)
    return [...taken, ...renewed.filter((name) => !this.#isKnown(name))]
  }

  /** Whether a webhook has a loop, or progress that is not saved yet, such as a pause. */
  #isKnown(name: string): boolean {
    return this.#loops.has(name) || this.#saver.has(name)
  }

  #owns({ owner }: Webhook): boolean {
    return owner === this.#owner
  }

  /** Stops the loop of a webhook, and discards its progress. */
  #drop(name: string): void {
    this.#loops.get(name)?.stop()
    this.#loops.delete(name)
    this.#saver.forget(name)
  }

  async #start(webhook: Webhook): Promise<void> {
    // Imported on demand, because most services have no webhooks.
    const [{ DeliveryLoop }, { Sender }] = await Promise.all([
      import('./delivery-loop.ts'),
      import('./sender.ts'),
    ])
    if (this.#stop.signal.aborted) return
    const { store, keepChanges } = this.#options
    const { name } = webhook
    const isCurrent = () => this.#loops.get(name) === loop
    const loop: DeliveryLoop = new DeliveryLoop({
      webhook,
      feed: this.#feed,
      memory: this.#memory,
      save: (progress, isSkip) => {
        if (isCurrent()) this.#saver.set(name, progress, isSkip)
      },
      remove: () => this.#saver.exclusively(() => store.webhooks.remove(name, this.#owner)),
      sender: new Sender(this.#options),
      clock: this.#clock,
      events: this.#events,
      lease: this.#term,
      keepChanges,
    })
    this.#loops.set(name, loop)
    loop.ended.then(() => {
      if (isCurrent()) this.#loops.delete(name)
    })
  }
}
