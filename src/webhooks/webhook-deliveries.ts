import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { ChangeFeed } from '../../service/change-feed.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { WEBHOOK_LEASE_MS, type Webhook, type WebhookStore } from '../../service/webhook-store.ts'
import { type Clock, systemClock } from './clock.ts'
import type { DeliveryLoop } from './delivery-loop.ts'
import type { SenderOptions } from './sender.ts'
import { type DeliveryCounts, WebhookLog } from './webhook-log.ts'

/** How often to look for what the operator has changed, and for webhooks whose process has died. */
const POLL_MS = 500

/** How long before a lease is renewed. Several attempts to renew it can fail before it ends. */
const RENEWAL_MS = 3000

/** A process stops to deliver this long before its leases end. */
const MARGIN_MS = 2000

export interface WebhookDeliveriesOptions extends SenderOptions {
  readonly store: ChangeFeed & { readonly webhooks: WebhookStore }
  readonly log: FastifyBaseLogger
  readonly clock?: Clock
}

/** What a process knows about a webhook. */
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
  readonly #loops = new Map<string, DeliveryLoop>()
  readonly #stop = new AbortController()
  readonly #polling: Promise<void>
  #webhooks: readonly Webhook[] = []
  /** When the leases were last renewed, by both clocks: one stops while the machine sleeps, the other can be set. */
  #leasedAt = { monotonic: Number.NEGATIVE_INFINITY, wall: 0 }

  /** Starts to deliver. */
  constructor(options: WebhookDeliveriesOptions) {
    const { log, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#events = new WebhookLog(log)
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

  /** Abandons deliveries in flight, which are repeated later, and lets other processes continue at once. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#polling
    const isOwner = this.#loops.size > 0
    await Promise.all(Array.from(this.#loops.values(), (loop) => loop.stop()))
    // If the store is unavailable, the leases end by themselves.
    if (isOwner) await this.#options.store.webhooks.release(this.#owner).catch(() => {})
  }

  async #poll(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#refresh()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          this.#options.log.error({ err: error }, 'internal error of the webhooks')
        }
      }
      await systemClock.wait(POLL_MS, this.#stop.signal)
    }
  }

  /** Brings the loops in line with the store. */
  async #refresh(): Promise<void> {
    const { store } = this.#options
    this.#webhooks = await store.webhooks.list()
    await this.#stopOthers()
    if (!this.#needsLease()) return
    const requested = { monotonic: performance.now(), wall: Date.now() }
    const names = await store.webhooks.lease(this.#owner)
    this.#leasedAt = requested
    const added = names.filter((name) => !this.#loops.has(name))
    if (added.length === 0) return
    // Read again, because their last owner may have saved progress since the first time.
    this.#webhooks = await store.webhooks.list()
    for (const webhook of this.#webhooks) {
      if (added.includes(webhook.name) && this.#owns(webhook)) await this.#start(webhook)
    }
  }

  /** Stops the loops of webhooks that were removed or resumed, and updates the others. */
  async #stopOthers(): Promise<void> {
    const owned = new Map(
      this.#webhooks.filter((each) => this.#owns(each)).map((each) => [each.name, each]),
    )
    const stopping: Promise<void>[] = []
    for (const [name, loop] of this.#loops) {
      const webhook = owned.get(name)
      if (webhook === undefined) stopping.push(loop.stop())
      else loop.update(webhook)
    }
    await Promise.all(stopping)
    this.#events.retain(new Set(this.#webhooks.map(({ name }) => name)))
  }

  /** Whether there are leases to take or renew. */
  #needsLease(): boolean {
    const isDue = performance.now() - this.#leasedAt.monotonic >= RENEWAL_MS
    return this.#webhooks
      .filter(({ progress }) => progress.pausedAt === undefined)
      .some(({ name, owner }) => {
        if (owner === undefined) return true
        return owner === this.#owner && (isDue || !this.#loops.has(name))
      })
  }

  #owns({ owner }: Webhook): boolean {
    return owner === this.#owner
  }

  #isLeased(): boolean {
    const { monotonic, wall } = this.#leasedAt
    const elapsed = [performance.now() - monotonic, Date.now() - wall]
    return elapsed.every((time) => Math.abs(time) < WEBHOOK_LEASE_MS - MARGIN_MS)
  }

  async #start(webhook: Webhook): Promise<void> {
    // Imported late, because most services have no webhooks.
    const [{ DeliveryLoop }, { Sender }] = await Promise.all([
      import('./delivery-loop.ts'),
      import('./sender.ts'),
    ])
    const { store } = this.#options
    const loop = new DeliveryLoop({
      webhook,
      owner: this.#owner,
      store,
      sender: new Sender(this.#options),
      clock: this.#clock,
      events: this.#events,
      isLeased: () => this.#isLeased(),
    })
    this.#loops.set(webhook.name, loop)
    loop.ended.then(() => {
      if (this.#loops.get(webhook.name) === loop) this.#loops.delete(webhook.name)
    })
  }
}
