import { known } from '../../core/known.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import type { SharedFeed } from '../../service/shared-feed.ts'
import type { Change } from '../../service/store/change-feed.ts'
import { textLength } from '../../service/store/plant-content.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import type { Webhook, WebhookProgress } from '../../service/webhook-store.ts'
import { eventOf, messageId, toEvent, toMessage } from './message.ts'
import { DELAY_MAX_MS, isHopeless, retryDelay } from './retry-delays.ts'
import type { DeliveryResult, Sender } from './sender.ts'
import type { WebhookLog } from './webhook-log.ts'

/** How many changes are read at a time. A crash repeats no more of them. */
const PAGE_SIZE = 1000

/** How long a read waits for changes. */
const READ_MS = 60_000

/**
 * After a page with fewer changes, the next one is read this long after it at the earliest, so that many small commits
 * cause few reads. The pause is shorter after a delivery.
 */
const SMALL_PAGE = 200
const PAUSE_MS = 100
const DELIVERED_PAUSE_MS = 20

/** How long to wait while the store is unavailable. */
const UNAVAILABLE_MS = 500

/**
 * The limit on the text that all webhooks deliver at the same time, in characters. A delivery takes about five times as
 * much memory. Small pages do not count, so that the usual changes are delivered while large ones wait.
 */
const TEXT_MAX = 2 ** 24
const SMALL_TEXT = 2 ** 14

/** How long a large page waits on average until it tries again. */
const NO_ROOM_MS = 200

const LOST = 'the changes after the last delivery are no longer kept'

export interface DispatcherOptions {
  readonly webhook: Webhook
  readonly feed: Pick<SharedFeed, 'readNext'>
  /** The text of the large pages that are being delivered. Shared by all webhooks. */
  readonly inFlight: { text: number }
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly codec: PlantCodec
  readonly clock: Pick<Clock, 'now' | 'wait'>
  readonly log: Pick<WebhookLog, 'onDelivered' | 'onFailed' | 'onPaused' | 'onError'>
  /** Whether the process certainly has the lease. Stops the dispatcher if not. */
  readonly isLeader: () => boolean
  /** How many deliveries can be in flight. */
  readonly inFlightMax: () => number
  /** How long changes are retained, in milliseconds. */
  readonly keepChanges: number
}

type Failure = Pick<Extract<DeliveryResult, { result: 'failed' }>, 'reason' | 'retryAfterMs'>

/** The progress after a success. */
const WORKING = { attempts: 0, failingSince: undefined, nextAttemptAt: undefined }

/**
 * Delivers the changes to one webhook, a page at a time: those of one plant in order, those of different plants at the same
 * time. If a delivery fails, it delivers nothing else until that one succeeds.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #stop = new AbortController()
  /** Resolves when nothing is in flight after the end. */
  readonly ended: Promise<void>
  #webhook: Webhook
  #progress: WebhookProgress
  #isGone = false
  /** The changes of the page that are still to be delivered, each with the cursor before it. */
  #waiting = new Map<Change, string | undefined>()
  /** The cursor after the page. */
  #pageEnd: string | undefined
  /** The first change that failed in this round, or in the one before. */
  #failed: Change | undefined
  #hasFailed = false
  /** The time of the last change read or, if the page was empty, of the read. */
  #readUntil: number | undefined

  /** Starts to deliver. */
  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#webhook = options.webhook
    this.#progress = options.webhook.progress
    this.ended = this.#run()
  }

  get name(): string {
    return this.#webhook.name
  }

  /** A new object after each change. */
  get progress(): WebhookProgress {
    return this.#progress
  }

  /** When the oldest change to deliver was made, in milliseconds since 1970. Undefined if there is none. */
  get waitingSince(): number | undefined {
    const oldest = this.#waiting.keys().next().value
    return oldest && Date.parse(oldest.at)
  }

  /** Whether it was stopped, has paused the webhook, or the receiver responded with 410. */
  get isOver(): boolean {
    return this.#stop.signal.aborted
  }

  /** Whether the receiver responded with 410. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Uses the secrets of a webhook from the next attempt on. */
  update(webhook: Webhook): void {
    this.#webhook = webhook
  }

  /** Abandons the attempts in flight, which are repeated later. */
  stop(): void {
    this.#stop.abort()
  }

  /** The cursor before the first change that is neither delivered nor skipped. */
  get #cursor(): string | undefined {
    return this.#waiting.size === 0 ? this.#pageEnd : this.#waiting.values().next().value
  }

  async #run(): Promise<void> {
    const { clock, sender } = this.#options
    while (!this.isOver) {
      try {
        await this.#deliverPage()
      } catch (error) {
        if (error instanceof StoreUnavailable) await clock.wait(UNAVAILABLE_MS, this.#stop.signal)
        else this.#onBug(error)
        await this.#waitForRetry()
      }
    }
    sender.close()
  }

  async #deliverPage(): Promise<void> {
    const { clock } = this.#options
    const count = await this.#read()
    const pause = this.#waiting.size > 0 ? DELIVERED_PAUSE_MS : PAUSE_MS
    // All webhooks continue at the same moment, so that they share the next read.
    const next = clock.now() + pause - (clock.now() % pause)
    while (this.#waiting.size > 0 && !this.isOver) {
      await this.#waitForRetry()
      await this.#deliverRound()
    }
    if (count < SMALL_PAGE) await this.#waitUntil(next, pause)
  }

  /**
   * Reads the next page. Pauses the webhook if changes were lost.
   *
   * @returns the number of changes
   */
  async #read(): Promise<number> {
    const { clock, feed } = this.#options
    const { cursor } = this.#progress
    // From the first read on, the cursor shows if the next change is no longer retained.
    const waitMs = cursor === undefined ? 0 : READ_MS
    const request = { after: cursor, limit: PAGE_SIZE }
    const page = await feed.readNext(request, waitMs, this.#stop.signal)
    if (typeof page === 'string') {
      this.#pause({ lastFailureAt: this.#now(), lastFailure: this.#explainLoss() }, true)
      return 0
    }
    const { changes, next } = page
    let before = cursor
    for (const change of changes) {
      if (this.#webhook.events.includes(eventOf(change))) this.#waiting.set(change, before)
      before = change.cursor
    }
    this.#pageEnd = next
    this.#readUntil = changes.length === 0 ? clock.now() : Date.parse(changes.at(-1)?.at ?? '')
    if (this.#cursor !== cursor) this.#progress = { ...this.#progress, cursor: this.#cursor }
    return changes.length
  }

  /** Waits for the next attempt, which an earlier process may have planned. */
  async #waitForRetry(): Promise<void> {
    this.#hasFailed = false
    const { nextAttemptAt } = this.#progress
    if (nextAttemptAt !== undefined) await this.#waitUntil(Number(nextAttemptAt), DELAY_MAX_MS)
  }

  /** Waits until a time, but no longer than a maximum, in case the clock was set back. */
  async #waitUntil(time: number, delayMax: number): Promise<void> {
    const { clock } = this.#options
    const delay = Math.min(time - clock.now(), delayMax)
    if (delay > 0) await clock.wait(delay, this.#stop.signal)
  }

  /** Delivers the changes that are waiting until one fails. After a failure, delivers only that one. */
  async #deliverRound(): Promise<void> {
    const { clock, inFlight, inFlightMax } = this.#options
    const waiting = [...this.#waiting.keys()]
    const changes = this.#progress.attempts === 0 ? waiting : [this.#failed ?? known(waiting[0])]
    const text = changes.reduce((sum, { plant = {} }) => sum + textLength(plant), 0)
    const large = text > SMALL_TEXT ? text : 0
    while (large > 0 && inFlight.text >= TEXT_MAX && !this.isOver) {
      await clock.wait(2 * NO_ROOM_MS * Math.random(), this.#stop.signal)
    }
    inFlight.text += large
    const plants = Map.groupBy(changes, ({ id }) => id).values()
    await Promise.all(
      Array.from({ length: inFlightMax() }, (_, index) => this.#deliverPlants(plants, index)),
    )
    inFlight.text -= large
  }

  /** Delivers the changes of one plant after the other, as one of several that take the next plant. */
  async #deliverPlants(plants: Iterable<readonly Change[]>, index: number): Promise<void> {
    for (const changes of plants) {
      for (const change of changes) {
        // Another process delivers it if this one has no lease.
        if (this.isOver || this.#hasFailed || !this.#options.isLeader()) return
        await this.#deliver(change).catch((error) => this.#onBug(error, change))
      }
      // There are more webhooks than before.
      if (index >= this.#options.inFlightMax()) return
    }
  }

  /** Makes one attempt to deliver an event, and records the result. */
  async #deliver(change: Change): Promise<void> {
    const { clock, codec, sender } = this.#options
    const webhook = this.#webhook
    const id = messageId(webhook.name, change)
    const message = toMessage(id, toEvent(codec, change), webhook, clock.now())
    const delivery = await sender.send(webhook.url, message, this.#stop.signal)
    switch (delivery.result) {
      case 'received':
        this.#acknowledge(change)
        break
      case 'gone':
        this.#isGone = true
        this.stop()
        break
      case 'failed':
        // An abandoned attempt is not a failure.
        if (!this.isOver) this.#retryLater(delivery, change)
    }
  }

  #acknowledge(change: Change): void {
    const { log } = this.#options
    const { attempts } = this.#progress
    // After a failure in the same round, that delivery shows whether the receiver works again.
    const isWorking = !this.#hasFailed
    if (isWorking) this.#failed = undefined
    this.#waiting.delete(change)
    const working = isWorking ? WORKING : {}
    const lastSuccessAt = this.#now()
    this.#progress = { ...this.#progress, ...working, lastSuccessAt, cursor: this.#cursor }
    log.onDelivered(this.name, isWorking ? attempts : 0)
  }

  #retryLater({ reason, retryAfterMs }: Failure, change?: Change): void {
    const { log } = this.#options
    const now = this.#now()
    const { attempts, failingSince = now, nextAttemptAt } = this.#progress
    // Deliveries that were in flight at the same time count as one attempt, and the last of them delays the next one.
    const isFirst = !this.#hasFailed
    const failed = {
      ...this.#progress,
      attempts: isFirst ? attempts + 1 : attempts,
      // The clock may have been set back.
      failingSince: failingSince < now ? failingSince : now,
      lastFailureAt: now,
      lastFailure: reason,
    }
    const next = now.getTime() + retryDelay(failed.attempts, retryAfterMs, Math.random())
    const earliest = isFirst ? 0 : Number(nextAttemptAt)
    this.#progress = { ...failed, nextAttemptAt: new Date(Math.max(next, earliest)) }
    if (isFirst) this.#failed = change
    this.#hasFailed = true
    log.onFailed(this.name, this.#progress)
    if (isHopeless(failed, now)) this.#pause({})
  }

  #onBug(error: unknown, change?: Change): void {
    this.#options.log.onError(this.name, error)
    this.#retryLater({ reason: 'internal error', retryAfterMs: 0 }, change)
  }

  #pause(failed: Partial<WebhookProgress>, hasMissedChanges = false): void {
    const paused = { nextAttemptAt: undefined, pausedAt: this.#now() }
    this.#progress = { ...this.#progress, ...failed, ...paused }
    this.#options.log.onPaused(this.name, this.#progress, hasMissedChanges)
    this.stop()
  }

  /** Why the next changes cannot be read. */
  #explainLoss(): string {
    // The first of them was made then, or later.
    const since = this.#readUntil
    if (since === undefined) {
      return `${LOST} (--keep-changes, --keep-changes-bytes), or the database was restored`
    }
    return since + this.#options.keepChanges <= this.#options.clock.now()
      ? `${LOST}: they were older than --keep-changes`
      : `${LOST}: together, they exceeded --keep-changes-bytes, or the database was restored`
  }

  #now(): Date {
    return new Date(this.#options.clock.now())
  }
}
