import { setImmediate } from 'node:timers/promises'
import type { Change, ChangesPage, NoChanges } from '../../service/change-feed.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { SharedFeed } from '../../service/shared-feed.ts'
import type { Webhook, WebhookProgress } from '../../service/webhook-store.ts'
import type { Clock } from './clock.ts'
import type { DeliveryEvents } from './delivery-events.ts'
import { eventOf, messageId, toEvent } from './event.ts'
import type { LeaseTerm } from './lease-term.ts'
import type { PageMemory } from './page-memory.ts'
import { DELAY_MAX_MS, isHopeless, retryDelay } from './retry-delays.ts'
import type { Outcome, Sender } from './sender.ts'
import { currentSecrets } from './signature.ts'
import { untilAborted } from './until-aborted.ts'

/** How many changes are read at a time. */
const PAGE_SIZE = 200

/** How long a read waits for changes. */
const READ_MS = 60_000

/** How long to wait before the next read, so that many small commits cause few reads. Less if there was a delivery. */
const PAUSE_MS = 100
const DELIVERED_PAUSE_MS = 20

/** How long to wait on average until other webhooks have delivered their changes. */
const NO_ROOM_MS = 200

/** How long to wait while the store is unavailable, or the lease is uncertain. */
const UNAVAILABLE_MS = 1000

const LOST = 'the changes after the last delivery are no longer kept'

export interface DeliveryLoopOptions {
  readonly webhook: Webhook
  readonly feed: Pick<SharedFeed, 'readNext'>
  /** Shared by all webhooks. */
  readonly memory: PageMemory
  /** Called with the progress, and whether it has only skipped changes since the last call. */
  readonly save: (progress: WebhookProgress, isSkip: boolean) => void
  /** Removes the webhook. Resolves to false if the process does not have its lease. */
  readonly remove: () => Promise<boolean>
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly clock: Clock
  readonly events: DeliveryEvents
  readonly lease: Pick<LeaseTerm, 'signal'>
  /** How long changes are kept, in milliseconds. */
  readonly keepChanges: number
}

/**
 * Delivers the changes to one webhook, in order, from its cursor. It holds one page of changes in memory, and none
 * while it waits for memory or to repeat a failed delivery.
 */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #webhook: Webhook
  #progress: WebhookProgress
  /** When the next change to deliver was made. Undefined if there is none. */
  #waitingSince: number | undefined
  /** When all earlier changes had been read. */
  #caughtUpAt: number | undefined
  /** Whether the last page that was read did not fit into memory. */
  #needsRoom = false

  /** Starts to deliver. */
  constructor(options: DeliveryLoopOptions) {
    this.#options = options
    this.#webhook = options.webhook
    this.#progress = options.webhook.progress
    this.#ended = this.#run()
  }

  /** When the next change to deliver was made, in milliseconds since 1970. Undefined if there is none. */
  get waitingSince(): number | undefined {
    return this.#waitingSince
  }

  /** Uses the secrets of a webhook from the next attempt on. */
  update(webhook: Webhook): void {
    this.#webhook = webhook
  }

  /** Resolves when the loop has ended: it was stopped, or the webhook was paused or removed. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** Abandons the attempt in flight, which is repeated later. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #run(): Promise<void> {
    const { clock, sender } = this.#options
    while (!this.#isStopped) {
      try {
        await this.#waitForRetry()
        const pause = await this.#deliverPage()
        if (pause > 0) await clock.wait(pause, this.#stop.signal)
      } catch (error) {
        await this.#recover(error)
      }
      // Reads can complete without yielding to the event loop.
      await setImmediate()
    }
    sender.close()
  }

  async #recover(error: unknown): Promise<void> {
    const { clock, events } = this.#options
    if (error instanceof StoreUnavailable) {
      return clock.wait(UNAVAILABLE_MS, this.#stop.signal)
    }
    events.onError(this.#webhook.name, error)
    this.#retryLater({ result: 'failed', reason: 'internal error', retryAfterMs: 0 })
  }

  /** Waits for the next attempt, which an earlier process may have scheduled. */
  async #waitForRetry(): Promise<void> {
    const { clock } = this.#options
    const { nextAttemptAt } = this.#progress
    if (nextAttemptAt === undefined || nextAttemptAt.getTime() <= clock.now()) return
    if (this.#waitingSince === undefined) {
      const page = await this.#read(1, 0)
      this.#waitingSince = page && waitingIn(page.changes)
    }
    const delay = nextAttemptAt.getTime() - clock.now()
    // It is limited in case the clock was set back.
    await clock.wait(Math.min(delay, DELAY_MAX_MS), this.#stop.signal)
  }

  /**
   * Reads the next changes and delivers them until an attempt fails. Returns how long to pause, so that the page is not
   * kept meanwhile.
   */
  async #deliverPage(): Promise<number> {
    const { memory } = this.#options
    const noRoomMs = 2 * NO_ROOM_MS * Math.random()
    // Reading a large page repeatedly would waste processor time.
    if (this.#needsRoom && !memory.hasRoom) return noRoomMs
    // From the first read on, the cursor shows if the next change is no longer kept.
    const waitMs = this.#progress.cursor === undefined ? 0 : READ_MS
    const page = await this.#read(PAGE_SIZE, waitMs)
    if (page === undefined) return 0
    this.#waitingSince = waitingIn(page.changes)
    const release = memory.hold(page.changes)
    this.#needsRoom = release === undefined
    if (release === undefined) return noRoomMs
    try {
      return await this.#deliver(page)
    } finally {
      release()
    }
  }

  async #deliver({ changes, next }: ChangesPage): Promise<number> {
    let pause = PAUSE_MS
    let skipped = changes.length === 0 ? next : undefined
    for (const change of changes) {
      if (!this.#webhook.events.includes(eventOf(change))) {
        skipped = change.cursor
        continue
      }
      if (skipped !== undefined) this.#advance({ cursor: skipped }, true)
      skipped = undefined
      this.#waitingSince = Date.parse(change.at)
      const outcome = await this.#attempt(change)
      if (outcome === undefined) return UNAVAILABLE_MS
      if (!(await this.#apply(outcome, change.cursor))) return 0
      pause = DELIVERED_PAUSE_MS
    }
    if (skipped !== undefined && skipped !== this.#progress.cursor) {
      this.#advance({ cursor: skipped }, this.#progress.cursor !== undefined)
    }
    if (changes.length === PAGE_SIZE) return 0
    this.#waitingSince = undefined
    // A short page can be one whose changes are large, so only an empty one shows that there are no more.
    const last = changes.at(-1)
    this.#caughtUpAt = last === undefined ? this.#options.clock.now() : Date.parse(last.at)
    // All webhooks pause until the same moment, so that they share the next read.
    return pause - (performance.now() % pause)
  }

  /** Resolves to undefined if the loop must end. */
  async #read(limit: number, waitMs: number): Promise<ChangesPage | undefined> {
    const { signal } = this.#stop
    const request = { after: this.#progress.cursor, limit }
    const page = await untilAborted(this.#options.feed.readNext(request, waitMs, signal), signal)
    if (typeof page !== 'string') return page
    this.#pause({ lastFailureAt: this.#now(), lastFailure: this.#explain(page) }, page)
    return undefined
  }

  /** Why the next changes cannot be read. */
  #explain(page: NoChanges): string {
    if (page === 'off') return 'the change feed is off'
    // The first of them was made then, or later.
    const since = this.#waitingSince ?? this.#caughtUpAt
    if (since === undefined) {
      return `${LOST} (--keep-changes, --keep-changes-bytes), or the database was restored`
    }
    return since + this.#options.keepChanges <= this.#options.clock.now()
      ? `${LOST}: they were older than --keep-changes`
      : `${LOST}: together, they exceeded --keep-changes-bytes, or the database was restored`
  }

  /** Resolves to undefined if no attempt was made, or it was abandoned. */
  async #attempt(change: Change): Promise<Outcome | undefined> {
    const { lease, clock, sender } = this.#options
    const signal = AbortSignal.any([this.#stop.signal, lease.signal])
    if (signal.aborted) return undefined
    const { name, url } = this.#webhook
    const secrets = currentSecrets(this.#webhook, clock.now())
    const delivery = { url, id: messageId(name, change), event: toEvent(change), secrets }
    const outcome = await sender.send(delivery, signal)
    return outcome.result === 'failed' && signal.aborted ? undefined : outcome
  }

  /** Resolves to whether the change was delivered. */
  async #apply(outcome: Outcome, cursor: string): Promise<boolean> {
    const { events, remove } = this.#options
    const { name } = this.#webhook
    const { attempts } = this.#progress
    switch (outcome.result) {
      case 'received': {
        const done = { attempts: 0, failingSince: undefined, nextAttemptAt: undefined }
        this.#advance({ ...done, cursor, lastSuccessAt: this.#now() }, false)
        events.onDelivered(name, attempts)
        return true
      }
      case 'gone':
        if (await remove()) events.onRemoved(name)
        this.#stop.abort()
        return false
      case 'failed':
        this.#retryLater(outcome)
        return false
    }
  }

  #retryLater({ reason, retryAfterMs }: Outcome & { result: 'failed' }): void {
    const { events } = this.#options
    const now = this.#now()
    const { attempts, failingSince = now } = this.#progress
    const failed = {
      ...this.#progress,
      attempts: attempts + 1,
      // The clock may have been set back.
      failingSince: failingSince < now ? failingSince : now,
      lastFailureAt: now,
      lastFailure: reason,
    }
    const delay = retryDelay(failed.attempts, retryAfterMs, Math.random())
    const planned = { ...failed, nextAttemptAt: new Date(now.getTime() + delay) }
    events.onFailed(this.#webhook.name, planned)
    if (isHopeless(failed, now)) this.#pause(failed)
    else this.#advance(planned, false)
  }

  #pause(failed: Partial<WebhookProgress>, page?: NoChanges): void {
    this.#advance({ ...failed, nextAttemptAt: undefined, pausedAt: this.#now() }, false)
    this.#options.events.onPaused(this.#webhook.name, this.#progress, page)
    this.#stop.abort()
  }

  #advance(changed: Partial<WebhookProgress>, isSkip: boolean): void {
    this.#progress = { ...this.#progress, ...changed }
    this.#options.save(this.#progress, isSkip)
  }

  #now(): Date {
    return new Date(this.#options.clock.now())
  }
}

function waitingIn([first]: readonly Change[]): number | undefined {
  return first && Date.parse(first.at)
}
