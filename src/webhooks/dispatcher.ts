import type { Change } from '../../service/change-feed.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { SharedFeed } from '../../service/shared-feed.ts'
import type { Webhook, WebhookProgress } from '../../service/webhook-store.ts'
import type { Clock } from '../../time/clock.ts'
import { retry } from '../../time/retry.ts'
import type { ChangeMemory } from './change-memory.ts'
import { eventOf, messageId, toEvent, toMessage } from './message.ts'
import { DELAY_MAX_MS, isHopeless, retryDelay } from './retry-delays.ts'
import type { DeliveryResult, Sender } from './sender.ts'
import type { WebhookLog } from './webhook-log.ts'

/** How many changes are read at a time. */
const PAGE_SIZE = 200

/** How many changes can be pending: the oldest one that is not acknowledged, and those that follow it. */
const PENDING_MAX = 1000

/** How long a read waits for changes. */
const READ_MS = 60_000

/** How long to wait before the next read, so that many small commits cause few reads. Less if there was a delivery. */
const PAUSE_MS = 100
const DELIVERED_PAUSE_MS = 20

/** How long to wait on average until other webhooks have delivered their changes. */
const NO_ROOM_MS = 200

/** How long to wait while the store is unavailable. */
const UNAVAILABLE_MS = 500

const LOST = 'the changes after the last delivery are no longer kept'

export interface DispatcherOptions {
  readonly webhook: Webhook
  readonly feed: Pick<SharedFeed, 'readNext'>
  /** Shared by all webhooks. */
  readonly memory: ChangeMemory
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

/** A change that was read, and is delivered or skipped after those before it. */
interface Pending {
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  isDone: boolean
}

/**
 * Delivers the changes to one webhook: those of one plant in order, those of different plants at the same time. After a
 * failure, it delivers only the oldest event, until that succeeds.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #stop = new AbortController()
  /** Resolves when nothing is in flight after the end. */
  readonly ended: Promise<void>
  #webhook: Webhook
  #progress: WebhookProgress
  /** Aborts when no more deliveries can begin, because one has failed or the dispatcher was stopped. */
  #round = new AbortController()
  #hasFailed = false
  #isGone = false
  /** Changes after the cursor, in their order. */
  readonly #pending = new Map<string, Pending>()
  /** Cursors of changes delivered or skipped before this round, after an older change that failed. */
  #done: ReadonlySet<string> = new Set()
  /** For each plant with deliveries in flight, the last one. It starts when the earlier ones have ended. */
  readonly #inFlight = new Map<bigint, Promise<void>>()
  #deliveryEnd = Promise.withResolvers<void>()
  /** The time of the last change read or, if the page was empty, of the read. */
  #readUntil: number | undefined
  /** Whether the last page that was read did not fit into memory. */
  #needsRoom = false

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
    return this.#pending.values().next().value?.at
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
    this.#round.abort()
  }

  async #run(): Promise<void> {
    const { clock, sender } = this.#options
    const { signal } = this.#stop
    const rounds = retry(() => this.#deliverRounds(), {
      delayMs: UNAVAILABLE_MS,
      signal,
      wait: (delayMs) => clock.wait(delayMs, signal),
    })
    // It rejects only with the reason of the signal.
    await Promise.allSettled([rounds])
    await Promise.all(this.#inFlight.values())
    sender.close()
  }

  /** @throws StoreUnavailable, while deliveries are in flight */
  async #deliverRounds(): Promise<void> {
    for (;;) {
      await Promise.all(this.#inFlight.values())
      if (this.isOver) return
      this.#round = new AbortController()
      this.#hasFailed = false
      try {
        await this.#waitForRetry()
        await this.#deliverRound()
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        this.#onBug(error)
      }
    }
  }

  /** Waits for the next attempt, which an earlier process may have planned. */
  async #waitForRetry(): Promise<void> {
    const { clock } = this.#options
    const { nextAttemptAt, cursor } = this.#progress
    if (nextAttemptAt === undefined) return
    if (this.#pending.size === 0) await this.#read(cursor, 1, 0)
    // It is limited in case the clock was set back.
    const delay = Math.min(nextAttemptAt.getTime() - clock.now(), DELAY_MAX_MS)
    if (delay > 0) await clock.wait(delay, this.#round.signal)
  }

  /** Reads changes, and begins to deliver them, until a delivery fails. */
  async #deliverRound(): Promise<void> {
    const { clock, memory } = this.#options
    const { signal } = this.#round
    this.#done = new Set([...this.#pending.keys()].filter((key) => this.#pending.get(key)?.isDone))
    let cursor = this.#progress.cursor
    while (!signal.aborted) {
      // Reading a large page repeatedly would waste processor time.
      if (this.#needsRoom && !memory.hasRoom) {
        await clock.wait(2 * NO_ROOM_MS * Math.random(), signal)
        continue
      }
      // From the first read on, the cursor shows if the next change is no longer retained.
      const page = await this.#read(cursor, PAGE_SIZE, cursor === undefined ? 0 : READ_MS)
      if (page === undefined) return
      const { changes, next } = page
      const release = memory.hold(changes)
      this.#needsRoom = release === undefined
      if (release === undefined) continue
      const deliveries: Promise<void>[] = []
      for (const change of changes) {
        if (this.#done.has(change.cursor)) continue
        while (!signal.aborted && !this.#canBegin(change)) await this.#deliveryEnd.promise
        if (signal.aborted) break
        const pending = this.#note(change)
        if (!this.#webhook.events.includes(eventOf(change))) this.#finish(pending, {})
        else deliveries.push(this.#begin(change, pending))
      }
      Promise.all(deliveries).then(release)
      const isStart = cursor === undefined && changes.length === 0
      if (isStart) this.#progress = { ...this.#progress, cursor: next }
      cursor = next
      if (changes.length === PAGE_SIZE) continue
      // All webhooks pause until the same moment, so that they share the next read.
      const pause = deliveries.length > 0 ? DELIVERED_PAUSE_MS : PAUSE_MS
      await clock.wait(pause - (clock.now() % pause), signal)
    }
  }

  /** Resolves to undefined if changes were lost, which pauses the webhook. */
  async #read(after: string | undefined, limit: number, waitMs: number) {
    const { clock, feed } = this.#options
    const page = await feed.readNext({ after, limit }, waitMs, this.#round.signal)
    if (typeof page === 'string') {
      this.#pause({ lastFailureAt: this.#now(), lastFailure: this.#explainLoss() }, true)
      return undefined
    }
    const [first, last = first] = [page.changes[0], page.changes.at(-1)]
    // The cursor may have passed some changes of the page since the round began.
    const next = page.changes.find(({ cursor }) => !this.#done.has(cursor))
    if (next !== undefined && this.#pending.size === 0) this.#note(next)
    if (after === undefined) this.#forgetBefore(first)
    this.#readUntil = last === undefined ? clock.now() : Date.parse(last.at)
    return page
  }

  /**
   * Forgets the changes before the oldest one retained. Without a cursor, they can be deleted before they are
   * delivered, and would never be done.
   */
  #forgetBefore(oldest: Change | undefined): void {
    for (const [cursor, pending] of this.#pending) {
      if (cursor === oldest?.cursor) {
        if (pending.isDone) this.#finish(pending, {})
        return
      }
      this.#pending.delete(cursor)
    }
  }

  /** Whether the delivery of a change can begin. */
  #canBegin({ cursor, id }: Change): boolean {
    // A receiver that fails gets one attempt at a time.
    const inFlightMax = this.#progress.attempts > 0 ? 1 : this.#options.inFlightMax()
    const canStart = this.#inFlight.has(id) || this.#inFlight.size < inFlightMax
    return canStart && (this.#pending.has(cursor) || this.#pending.size < PENDING_MAX)
  }

  #note({ cursor, at }: Change): Pending {
    const known = this.#pending.get(cursor)
    if (known !== undefined) return known
    const pending = { at: Date.parse(at), isDone: false }
    this.#pending.set(cursor, pending)
    return pending
  }

  /** Begins a delivery, which follows those of the same plant. Never rejects. */
  #begin(change: Change, pending: Pending): Promise<void> {
    const { id } = change
    const delivery = this.#deliver(change, pending, this.#inFlight.get(id))
      .catch((error) => this.#onBug(error))
      .then(() => {
        if (this.#inFlight.get(id) === delivery) this.#inFlight.delete(id)
        this.#deliveryEnd.resolve()
        this.#deliveryEnd = Promise.withResolvers()
      })
    this.#inFlight.set(id, delivery)
    return delivery
  }

  /** Makes one attempt to deliver an event, and records the result. */
  async #deliver(change: Change, pending: Pending, earlier?: Promise<void>): Promise<void> {
    const { clock, codec, isLeader, sender } = this.#options
    await earlier
    // The next round, or another process, delivers it.
    if (this.#round.signal.aborted || !isLeader()) return
    const webhook = this.#webhook
    const id = messageId(webhook.name, change)
    const message = toMessage(id, toEvent(codec, change), webhook, clock.now())
    const delivery = await sender.send(webhook.url, message, this.#stop.signal)
    switch (delivery.result) {
      case 'received':
        this.#acknowledge(pending)
        break
      case 'gone':
        this.#isGone = true
        this.stop()
        break
      case 'failed':
        // An abandoned attempt is not a failure.
        if (!this.isOver) this.#retryLater(delivery)
    }
  }

  #acknowledge(pending: Pending): void {
    const { log } = this.#options
    const { attempts } = this.#progress
    // After a failure in the same round, that delivery shows whether the receiver works again.
    const isWorking = !this.#hasFailed
    const lastSuccessAt = this.#now()
    this.#finish(pending, isWorking ? { ...WORKING, lastSuccessAt } : { lastSuccessAt })
    log.onDelivered(this.name, isWorking ? attempts : 0)
  }

  /** Advances the cursor up to the oldest change that is neither delivered nor skipped. */
  #finish(pending: Pending, progress: Partial<WebhookProgress>): void {
    pending.isDone = true
    let { cursor } = this.#progress
    for (const [next, { isDone }] of this.#pending) {
      if (!isDone) break
      this.#pending.delete(next)
      cursor = next
    }
    this.#progress = { ...this.#progress, ...progress, cursor }
  }

  #retryLater({ reason, retryAfterMs }: Failure): void {
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
    this.#hasFailed = true
    this.#round.abort()
    log.onFailed(this.name, this.#progress)
    if (isHopeless(failed, now)) this.#pause({})
  }

  #onBug(error: unknown): void {
    this.#options.log.onError(this.name, error)
    this.#retryLater({ reason: 'internal error', retryAfterMs: 0 })
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
    const since = this.waitingSince ?? this.#readUntil
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
