import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { known } from '../../core/known.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import { type RestrictionReader, readRestriction } from '../../service/restriction.ts'
import { SharedFeed } from '../../service/shared-feed.ts'
import type { ChangeFeed } from '../../service/store/change-feed.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { WEBHOOK_LEASE_MS, type Webhook, type Webhooks } from '../../service/webhook-store.ts'
import type { WebhookFigures } from '../observing/webhook-metrics.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { SenderOptions } from './sender.ts'
import { WebhookLog } from './webhook-log.ts'

/**
 * How often to save progress, apply the operator's changes, and take over an expired lease. If the process dies, the
 * deliveries since then are repeated.
 */
export const INTERVAL_MS = 1000

/** The age at which the lease is renewed. Several attempts to renew it can fail before it ends. */
const RENEWAL_MS = 3000

/** How long after a lease request the process can rely on the lease. */
const TERM_MS = WEBHOOK_LEASE_MS - 2000

const NEVER = Number.NEGATIVE_INFINITY

/** How many deliveries to one webhook can be in flight. */
const IN_FLIGHT_MAX = 16

/**
 * How many deliveries to all webhooks can be in flight, unless there are more webhooks. Each takes a connection, and
 * requests wait while many responses arrive at once.
 */
const CONNECTIONS_MAX = 64

/** How long a stop can take. */
const CLOSE_MS = 1000

export interface WebhookDeliveriesOptions extends SenderOptions {
  readonly store: ChangeFeed & RestrictionReader
  readonly webhooks: Webhooks
  readonly log: FastifyBaseLogger
  readonly codec: PlantCodec
  /** How long changes are retained, in milliseconds. */
  readonly keepChanges: number
  readonly clock?: Pick<Clock, 'now' | 'wait'>
}

interface Delivery {
  readonly dispatcher: Dispatcher
  /** The version of the progress in the store. */
  version: string
}

/**
 * Delivers changes to the webhooks in a store. Other processes can do the same: the one that has the lease delivers,
 * the others wait for it to end. While the database is a mirror, none delivers: the source delivers these changes.
 *
 * Without webhooks, it costs one read of an empty table a second, and loads neither the dispatcher nor the sender.
 */
export class WebhookDeliveries {
  readonly #options: WebhookDeliveriesOptions
  readonly #clock: Pick<Clock, 'now' | 'wait'>
  readonly #webhookLog: WebhookLog
  /** Identifies the process in leases. */
  readonly #owner = randomUUID()
  readonly #feed: SharedFeed
  readonly #inFlight = { text: 0 }
  /** By the name of the webhook. */
  readonly #deliveries = new Map<string, Delivery>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>
  #webhooks: readonly Webhook[] = []
  #isMirror = false
  #inFlightMax = IN_FLIGHT_MAX
  /** When the lease was requested for the last time, by the clock. */
  #leasedAt = NEVER
  /** Aborts when the lease is renewed. */
  #term = new AbortController()

  /** Starts to deliver. */
  constructor(options: WebhookDeliveriesOptions) {
    const { store, log, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#webhookLog = new WebhookLog(log)
    this.#feed = new SharedFeed(oneAtATime(store))
    this.#running = this.#run()
  }

  /** The figures of all webhooks, by name. */
  figures(): WebhookFigures[] {
    return this.#webhooks.map(({ name, progress: { pausedAt } }) => {
      const dispatcher = this.#deliveries.get(name)?.dispatcher
      const now = this.#clock.now()
      const isHere = dispatcher !== undefined && !dispatcher.isOver
      return {
        name,
        ...this.#webhookLog.countsOf(name),
        isPaused: pausedAt !== undefined,
        lag: isHere ? Math.max(0, now - (dispatcher.waitingSince ?? now)) / 1000 : undefined,
      }
    })
  }

  /**
   * Abandons deliveries in flight, which are repeated later, and lets another process continue. Takes at most a second:
   * deliveries that are not saved by then are repeated, and the lease ends by itself.
   */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#term.abort()
    const enough = new AbortController()
    await Promise.race([this.#finish(), systemClock.wait(CLOSE_MS, enough.signal)])
    enough.abort()
  }

  async #finish(): Promise<void> {
    this.#stopAll()
    await this.#running
    await Promise.all(Array.from(this.#deliveries.values(), ({ dispatcher }) => dispatcher.ended))
    if (this.#leasedAt === NEVER) return
    this.#leasedAt = NEVER
    try {
      await this.#save()
      await this.#options.webhooks.release(this.#owner)
    } catch {
      // The lease ends by itself.
    }
  }

  /** Saves, refreshes and leases once a second, one call after the other. After a stop, `#finish` makes the last calls. */
  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#save()
        await this.#refresh()
        if (this.#needsLease()) await this.#lease()
      } catch (error) {
        // After a stop that took too long, the store is closed, and calls fail.
        const isExpected = error instanceof StoreUnavailable || signal.aborted
        if (!isExpected) this.#options.log.error({ err: error }, 'internal error of the webhooks')
      }
      await this.#clock.wait(INTERVAL_MS, signal)
    }
  }

  /** Saves the progress of all webhooks, and removes those whose receivers responded with 410. */
  async #save(): Promise<void> {
    const { webhooks } = this.#options
    if (this.#deliveries.size === 0) return
    const current = Array.from(this.#deliveries, ([name, { dispatcher, version }]) => {
      return { name, version, progress: dispatcher.progress }
    })
    const versions = await webhooks.saveProgress(current)
    for (const { name, progress } of current) {
      const delivery = known(this.#deliveries.get(name))
      const version = versions.get(name)
      // The operator has changed it, or another process.
      if (version === undefined) {
        this.#drop(name)
        continue
      }
      delivery.version = version
      const { dispatcher } = delivery
      if (!dispatcher.isOver || dispatcher.progress !== progress) continue
      const isRemoved = dispatcher.isGone && (await webhooks.remove(name, version))
      if (isRemoved) this.#webhookLog.onRemoved(name)
      this.#deliveries.delete(name)
    }
  }

  /** Reads the webhooks, and brings the deliveries in line with them. */
  async #refresh(): Promise<void> {
    const { store, webhooks } = this.#options
    this.#webhooks = await webhooks.list()
    this.#isMirror = this.#webhooks.length > 0 && typeof (await readRestriction(store)) === 'object'
    this.#webhookLog.retain(new Set(this.#webhooks.map(({ name }) => name)))
    const owned = this.#isMirror ? [] : this.#webhooks.filter(({ owner }) => owner === this.#owner)
    const share = Math.max(1, Math.floor(CONNECTIONS_MAX / owned.length))
    this.#inFlightMax = Math.min(IN_FLIGHT_MAX, share)
    for (const [name, { version }] of this.#deliveries) {
      const isSame = owned.some((each) => each.name === name && each.version === version)
      if (!isSame) this.#drop(name)
    }
    for (const webhook of owned) {
      const delivery = this.#deliveries.get(webhook.name)
      if (delivery === undefined) await this.#start(webhook)
      else delivery.dispatcher.update(webhook)
    }
  }

  /** Whether to take or renew the lease. */
  #needsLease(): boolean {
    const active = this.#webhooks.find(({ progress }) => progress.pausedAt === undefined)
    if (this.#isMirror || active === undefined) return false
    const { owner } = active
    return owner === undefined || (owner === this.#owner && !this.#isLeasedFor(RENEWAL_MS))
  }

  async #lease(): Promise<void> {
    const requestedAt = this.#clock.now()
    if (!(await this.#options.webhooks.lease(this.#owner))) return
    this.#leasedAt = requestedAt
    if (this.#stop.signal.aborted) return
    this.#term.abort()
    this.#term = new AbortController()
    const { signal } = this.#term
    const end = requestedAt + TERM_MS - this.#clock.now()
    this.#clock.wait(end, signal).then(() => {
      if (signal.aborted) return
      // If the clock was set back meanwhile, the lease would seem to be younger than it is.
      this.#leasedAt = NEVER
      this.#stopAll()
    })
    // Another process may have made progress meanwhile.
    await this.#refresh()
  }

  /** Whether the process certainly has the lease. Stops the deliveries otherwise. */
  #isLeader(): boolean {
    const isCertain = this.#isLeasedFor(TERM_MS)
    if (!isCertain) this.#stopAll()
    return isCertain
  }

  /** Whether the lease was requested less than a time ago. Not if the clock was set back since. */
  #isLeasedFor(milliseconds: number): boolean {
    const age = this.#clock.now() - this.#leasedAt
    return age >= 0 && age < milliseconds
  }

  async #start(webhook: Webhook): Promise<void> {
    // Imported on demand, because most services have no webhooks.
    const [{ Dispatcher }, { Sender }] = await Promise.all([
      import('./dispatcher.ts'),
      import('./sender.ts'),
    ])
    if (this.#stop.signal.aborted || !this.#isLeader()) return
    const dispatcher = new Dispatcher({
      webhook,
      feed: this.#feed,
      inFlight: this.#inFlight,
      sender: new Sender(this.#options),
      codec: this.#options.codec,
      clock: this.#clock,
      log: this.#webhookLog,
      isLeader: () => this.#isLeader(),
      inFlightMax: () => this.#inFlightMax,
      keepChanges: this.#options.keepChanges,
    })
    this.#deliveries.set(webhook.name, { dispatcher, version: webhook.version })
  }

  /** Stops the deliveries to a webhook, and discards the progress that is not saved. */
  #drop(name: string): void {
    this.#deliveries.get(name)?.dispatcher.stop()
    this.#deliveries.delete(name)
  }

  #stopAll(): void {
    for (const { dispatcher } of this.#deliveries.values()) dispatcher.stop()
  }
}

/**
 * A feed that reads one page at a time, and at most one in each turn of the event loop, so that webhooks that skip many
 * changes do not delay requests, and use one connection to the database.
 */
function oneAtATime(feed: ChangeFeed): ChangeFeed {
  let last: Promise<unknown> = Promise.resolve()
  return {
    readChanges(request) {
      const page = last.then(() => feed.readChanges(request))
      last = page.catch(() => {}).then(() => setImmediate())
      return page
    },
    nextCommit: () => feed.nextCommit(),
  }
}
