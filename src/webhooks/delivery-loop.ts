import { setImmediate } from 'node:timers/promises'
import type { Change, ChangeFeed, NoChanges } from '../../service/change-feed.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { Webhook, WebhookProgress, WebhookStore } from '../../service/webhook-store.ts'
import type { Clock } from './clock.ts'
import { eventOf, messageId, toEvent } from './event.ts'
import { ProgressSaver } from './progress-saver.ts'
import { DELAY_MAX_MS, isHopeless, retryDelay } from './retry.ts'
import type { Outcome, Sender } from './sender.ts'
import { currentSecrets } from './signature.ts'

/** How many changes are read at a time. */
const PAGE_SIZE = 200

/** How long to wait before reading again, so that many small commits cause few reads. */
const PAUSE_MS = 20

/** How long to wait while the store is unavailable, or the lease is uncertain. */
const UNAVAILABLE_MS = 1000

/** Why a webhook that cannot continue is paused. */
const NO_CHANGES: Readonly<Record<NoChanges, string>> = {
  expired: 'the changes after the last delivery are no longer kept',
  malformed: 'the changes after the last delivery are no longer kept',
  off: 'the change feed is off',
}

/** What happened at a webhook, for the log and the metrics. */
export interface DeliveryEvents {
  onDelivered(name: string, failedAttempts: number): void
  onFailed(name: string, progress: WebhookProgress): void
  onPaused(name: string, progress: WebhookProgress): void
  onRemoved(name: string): void
  /** A bug. The delivery is repeated like a failed one. */
  onError(name: string, error: unknown): void
}

export interface DeliveryLoopOptions {
  readonly webhook: Webhook
  /** The process, as it is called in leases. */
  readonly owner: string
  readonly store: ChangeFeed & { readonly webhooks: Pick<WebhookStore, 'remove' | 'saveProgress'> }
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly clock: Clock
  readonly events: DeliveryEvents
  /** Whether the process certainly has the lease of the webhook. */
  readonly isLeased: () => boolean
}

/**
 * Delivers the changes to one webhook, in order, from its cursor. It holds one page of changes in memory, and none while
 * it waits to repeat a failed delivery.
 */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions
  readonly #saver: ProgressSaver
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #webhook: Webhook
  #progress: WebhookProgress
  /** When the change was made that is to be delivered next. Undefined if there is none. */
  #waitingSince: number | undefined

  /** Starts to deliver. */
  constructor(options: DeliveryLoopOptions) {
    const { webhook, owner, store, events } = options
    this.#options = options
    this.#webhook = webhook
    this.#progress = webhook.progress
    const save = (progress: WebhookProgress) =>
      store.webhooks.saveProgress(webhook.name, owner, progress)
    this.#saver = new ProgressSaver({
      save,
      onLost: () => this.#stop.abort(),
      onError: (error) => events.onError(webhook.name, error),
    })
    this.#ended = this.#run()
  }

  /** Since when the next change to be delivered has been waiting, in milliseconds since 1970. */
  get waitingSince(): number | undefined {
    return this.#waitingSince
  }

  /** Uses the secrets of a webhook from the next attempt on. */
  update(webhook: Webhook): void {
    this.#webhook = webhook
  }

  /** Resolves when the loop has ended: it was stopped, or the webhook was paused, removed or taken by another process. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** Abandons the attempt in flight, which is repeated later, and saves the progress. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted
  }

  async #run(): Promise<void> {
    await this.#waitForRetry()
    while (!this.#isStopped) {
      try {
        await this.#deliverPage()
      } catch (error) {
        await this.#recover(error)
      }
      // Reading can take no turn of the event loop, even for many pages.
      await setImmediate()
    }
    await this.#saver.flush()
    this.#options.sender.close()
  }

  async #recover(error: unknown): Promise<void> {
    const { clock, events } = this.#options
    if (error instanceof StoreUnavailable) {
      return clock.wait(UNAVAILABLE_MS, this.#stop.signal)
    }
    events.onError(this.#webhook.name, error)
    await this.#retryLater({ result: 'failed', reason: 'internal error', retryAfterMs: 0 })
  }

  async #deliverPage(): Promise<void> {
    const { store, clock } = this.#options
    const commit = store.nextCommit()
    const page = await store.readChanges({ after: this.#progress.cursor, limit: PAGE_SIZE })
    if (typeof page === 'string') return this.#pause({ lastFailure: NO_CHANGES[page] })
    for (const change of page.changes) {
      this.#waitingSince = Date.parse(change.at)
      if (!(await this.#handle(change))) return
    }
    this.#waitingSince = undefined
    if (page.changes.length > 0) return
    // From now on, the cursor shows if the next change is no longer kept.
    if (this.#progress.cursor === undefined) this.#advance({ cursor: page.next })
    await untilAborted(commit, this.#stop.signal)
    await clock.wait(PAUSE_MS, this.#stop.signal)
  }

  /** Delivers or skips a change. Resolves to false if it must be read and handled again. */
  async #handle(change: Change): Promise<boolean> {
    const { cursor } = change
    if (!this.#webhook.events.includes(eventOf(change))) {
      this.#advance({ cursor })
      return !this.#isStopped
    }
    const outcome = await this.#attempt(change)
    const isAbandoned = outcome?.result === 'failed' && this.#isStopped
    return outcome !== undefined && !isAbandoned && this.#apply(outcome, cursor)
  }

  /** Resolves to undefined if no attempt was made. */
  async #attempt(change: Change): Promise<Outcome | undefined> {
    const { isLeased, clock, sender } = this.#options
    if (!isLeased()) {
      await clock.wait(UNAVAILABLE_MS, this.#stop.signal)
      return undefined
    }
    const { name, url } = this.#webhook
    const secrets = currentSecrets(this.#webhook, clock.now())
    const delivery = { url, id: messageId(name, change), event: toEvent(change), secrets }
    return sender.send(delivery, this.#stop.signal)
  }

  /** Resolves to whether the change was delivered. */
  async #apply(outcome: Outcome, cursor: string): Promise<boolean> {
    const { clock, events, owner, store } = this.#options
    const { name } = this.#webhook
    const { attempts } = this.#progress
    switch (outcome.result) {
      case 'received': {
        const lastSuccessAt = new Date(clock.now())
        const done = { attempts: 0, failingSince: undefined, nextAttemptAt: undefined }
        this.#advance({ ...done, cursor, lastSuccessAt })
        events.onDelivered(name, attempts)
        return true
      }
      case 'gone':
        if (await store.webhooks.remove(name, owner)) events.onRemoved(name)
        this.#stop.abort()
        return false
      case 'failed':
        await this.#retryLater(outcome)
        return false
    }
  }

  async #retryLater({ reason, retryAfterMs }: Outcome & { result: 'failed' }): Promise<void> {
    const { clock, events } = this.#options
    const now = new Date(clock.now())
    const { attempts, failingSince = now } = this.#progress
    const failed = {
      ...this.#progress,
      attempts: attempts + 1,
      // The clock may have been set back.
      failingSince: failingSince < now ? failingSince : now,
      lastFailureAt: now,
      lastFailure: reason,
    }
    if (isHopeless(failed, now)) return this.#pause(failed)
    const delay = retryDelay(failed.attempts, retryAfterMs, Math.random())
    this.#advance({ ...failed, nextAttemptAt: new Date(now.getTime() + delay) })
    events.onFailed(this.#webhook.name, this.#progress)
    await clock.wait(delay, this.#stop.signal)
  }

  /** Waits for the next attempt, which an earlier process has planned. */
  async #waitForRetry(): Promise<void> {
    const { clock } = this.#options
    const { nextAttemptAt } = this.#progress
    if (nextAttemptAt === undefined) return
    const delay = nextAttemptAt.getTime() - clock.now()
    // It is limited in case the clock was set back.
    if (delay > 0) await clock.wait(Math.min(delay, DELAY_MAX_MS), this.#stop.signal)
  }

  async #pause(failed: Partial<WebhookProgress>): Promise<void> {
    const now = new Date(this.#options.clock.now())
    const paused = { lastFailureAt: now, ...failed, nextAttemptAt: undefined, pausedAt: now }
    this.#advance(paused)
    this.#options.events.onPaused(this.#webhook.name, this.#progress)
    this.#stop.abort()
  }

  #advance(changed: Partial<WebhookProgress>): void {
    this.#progress = { ...this.#progress, ...changed }
    this.#saver.set(this.#progress)
  }
}

/** Resolves with a promise, or when the signal is aborted. Does not keep a listener. */
async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>()
  const onAbort = () => resolve()
  signal.addEventListener('abort', onAbort)
  await Promise.race([promise, aborted])
  signal.removeEventListener('abort', onAbort)
}
