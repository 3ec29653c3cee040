/** Processes that deliver while they have the lease. */
import { deepEqual, equal } from 'node:assert/strict'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { Change } from '../../service/store/change-feed.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import type { Webhook } from '../../service/webhook-store.ts'
import { Dispatcher, type DispatcherOptions } from '../../src/webhooks/dispatcher.ts'
import { type Message, messageId, newSecret } from '../../src/webhooks/message.ts'
import type { DeliveryResult } from '../../src/webhooks/sender.ts'
import { CREATED_AT, cursorOf, isDue, type Model, positionOf } from './dispatcher-model.ts'
import { aborted } from './schedules.ts'

const NAME = 'orders'
const SECRET = newSecret()
const IN_FLIGHT_MAX = 2
const PAGE_SIZE = 3

/** The shortest delay after a failure, by the clock. */
const RETRY_MS_MIN = 750

/** How a process ends. One that has lost the lease is stopped some time after that. */
export type End = 'stopped' | 'lost lease' | 'killed'

class Process {
  readonly dispatcher: Dispatcher
  hasEnded = false
  readonly #model: Model
  /** How many changes were acknowledged or skipped before. */
  readonly #start: number
  readonly #acknowledged = new Set<string>()
  /** The changes that failed, and were not acknowledged since. */
  readonly #failed = new Set<string>()
  readonly #inFlight = new Set<bigint>()
  #now = 0
  /** The earliest time of an attempt after a failure. */
  #retryAt = 0
  #isLeader = true
  /** Aborts when the process is killed. */
  readonly #kill = new AbortController()

  constructor(model: Model) {
    this.#model = model
    const { progress } = model
    this.#start = positionOf(progress.cursor)
    const events = ['newPlant', 'plantChanged'] as const
    const registration = { name: NAME, url: 'https://receiver.example', events, secret: SECRET }
    const webhook: Webhook = { ...registration, createdAt: CREATED_AT, progress, version: '' }
    this.dispatcher = new Dispatcher({
      webhook,
      feed: { readNext: (...request) => this.#read(...request) },
      inFlight: { text: 0 },
      sender: {
        send: (_url, message, signal) => this.#send(message, signal),
        close: () => this.#expect(this.#inFlight.size, 0, 'attempts after the end'),
      },
      codec: new PlantCodec([]),
      clock: { now: () => this.#now, wait: (ms, signal) => this.#wait(ms, signal) },
      log: { onDelivered: () => {}, onFailed: () => {}, onPaused: () => {}, onError: () => {} },
      isLeader: () => this.#isCertain(),
      inFlightMax: () => IN_FLIGHT_MAX,
      keepChanges: 3_600_000,
    })
    this.dispatcher.ended.then(() => {
      this.hasEnded = true
    })
  }

  async end(end: End): Promise<void> {
    if (end === 'killed') {
      this.#isLeader = false
      this.#kill.abort()
      for (const id of this.#inFlight) this.#model.inFlight.delete(id)
    } else if (end === 'lost lease') {
      this.#isLeader = false
      await this.#model.schedule.step('the term ends')
      this.dispatcher.stop()
      // Ends the attempts that are abandoned.
      await this.#model.schedule.step('another process takes over')
    } else {
      const { attempts } = this.dispatcher.progress
      this.dispatcher.stop()
      await this.dispatcher.ended
      this.#expect(this.dispatcher.progress.attempts, attempts, 'a stop is no failure')
      this.save()
      this.#isLeader = false
    }
  }

  save(): void {
    this.#checkProgress()
    if (this.#isLeader) this.#model.progress = this.dispatcher.progress
  }

  #isCertain(): boolean {
    if (!this.#isLeader) this.dispatcher.stop()
    return this.#isLeader
  }

  /** A step in which time passes. Never resolves once the process is killed. */
  async #step(label: string): Promise<void> {
    await this.#model.schedule.step(label)
    if (this.#kill.signal.aborted) await new Promise(() => {})
    this.#checkProgress()
  }

  async #wait(milliseconds: number, signal: AbortSignal = this.#kill.signal): Promise<void> {
    const until = this.#now + milliseconds
    await Promise.race([this.#step('wait'), aborted(signal)])
    if (!signal.aborted) this.#now = Math.max(this.#now, until)
  }

  #read: DispatcherOptions['feed']['readNext'] = async (request, waitMs, signal) => {
    const { after, limit } = request
    const { feed, isReadable } = this.#model
    await this.#step('read')
    if (!isReadable()) throw new StoreUnavailable('failing', 'locked')
    const from = positionOf(after)
    const isOver = () => waitMs === 0 || signal === undefined || signal.aborted
    while (feed.length === from && !isOver()) {
      await Promise.race([this.#model.added(), signal && aborted(signal)])
    }
    const changes = feed.slice(from, from + Math.min(limit, PAGE_SIZE))
    return { changes, next: cursorOf(from + changes.length) }
  }

  async #send({ headers }: Message, signal: AbortSignal): Promise<DeliveryResult> {
    const { feed, inFlight, received, nextOutcome } = this.#model
    const position = feed.findIndex((each) => messageId(NAME, each) === headers['webhook-id'])
    const change = feed[position] as Change
    const { id, cursor } = change
    this.#checkAttempt(change, position)
    inFlight.add(id)
    this.#inFlight.add(id)
    await Promise.race([this.#step(`deliver ${cursor}`), aborted(signal)])
    inFlight.delete(id)
    this.#inFlight.delete(id)
    const failed = { result: 'failed', reason: 'ECONNRESET', retryAfterMs: 0 } as const
    if (signal.aborted) return failed
    const outcome = nextOutcome()
    if (outcome === 'received' || outcome === 'lost') received.add(cursor)
    if (outcome === 'received') {
      this.#acknowledged.add(cursor)
      this.#failed.delete(cursor)
      return { result: 'received', status: 204 }
    }
    this.#retryAt = this.#now + RETRY_MS_MIN
    this.#failed.add(cursor)
    if (outcome === 'bug') throw new TypeError('a bug')
    return failed
  }

  #checkAttempt({ id, cursor }: Change, position: number): void {
    const { feed, inFlight } = this.#model
    this.#expect(this.#isLeader && !this.dispatcher?.isOver, true, 'an attempt has the lease')
    this.#expect(inFlight.has(id), false, 'one attempt of a plant at a time')
    this.#expect(this.#inFlight.size < IN_FLIGHT_MAX, true, 'the number of attempts')
    this.#expect(this.#now >= this.#retryAt, true, 'a delay after a failure')
    const pending = feed.filter((each, index) => isDue(each) && !this.#isDone(each, index))
    const isPending = pending.some((each) => each.cursor === cursor)
    this.#expect(isPending, true, 'a change is not repeated after it was acknowledged')
    const earlier = feed.slice(0, position)
    const isFirst = earlier.every((each) => each.id !== id || !pending.includes(each))
    this.#expect(isFirst, true, 'the changes of a plant in order')
    if (this.dispatcher.progress.attempts === 0) return
    const isNext =
      this.#failed.size === 0 ? pending[0]?.cursor === cursor : this.#failed.has(cursor)
    this.#expect(
      isNext,
      true,
      'a change that failed, or the oldest one if an earlier process failed',
    )
    this.#expect(this.#inFlight.size, 0, 'one attempt at a time after a failure')
  }

  #checkProgress(): void {
    const passed = this.#model.feed.slice(0, positionOf(this.dispatcher.progress.cursor))
    const missing = passed.filter((each, index) => isDue(each) && !this.#isDone(each, index))
    this.#expect(missing.length, 0, 'progress has passed a change')
  }

  /** Whether a change was acknowledged to this process, or to one before. */
  #isDone({ cursor }: Change, index: number): boolean {
    return index < this.#start || this.#acknowledged.has(cursor)
  }

  #expect<Value>(actual: Value, expected: Value, message: string): void {
    this.#model.schedule.expect(actual, expected, message)
  }
}

/** Processes that deliver one after the other. */
export class Processes {
  readonly #model: Model
  #process: Process | undefined

  constructor(model: Model) {
    this.#model = model
  }

  /** Runs a process until each of the ends, and then a last one. */
  async deliver(ends: readonly End[]): Promise<void> {
    for (const end of ends) {
      this.#process = new Process(this.#model)
      await this.#model.schedule.step(end)
      await this.#process.end(end)
    }
    this.#process = new Process(this.#model)
  }

  save(): void {
    this.#process?.save()
  }

  /** Checks that everything is delivered, and stops. */
  async finish(): Promise<void> {
    const due = this.#model.feed.filter(isDue).map(({ cursor }) => cursor)
    deepEqual([...this.#model.received].toSorted(), due, 'the receiver has each change')
    equal(this.#process?.dispatcher.waitingSince, undefined, 'nothing is waiting')
    equal(this.#process?.dispatcher.progress.cursor, cursorOf(this.#model.feed.length))
    this.#process?.end('stopped')
    await this.#model.schedule.finish()
    equal(this.#process?.hasEnded, true)
  }
}
