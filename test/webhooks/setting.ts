/** A store with webhooks whose receivers are in this process. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import type { Test } from 'tap'
import type { Clock } from '../../core/time/clock.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { type NewWebhook, type Webhook, WebhookStore } from '../../service/webhook-store.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { INTERVAL_MS, WebhookDeliveries } from '../../src/webhooks/webhook-deliveries.ts'
import { createAll } from '../helpers/plants/lists.ts'
import { newWebhook } from '../stores/suites/webhook-suite.ts'
import { AUTHORITY } from './receiver.ts'

/** Every wait advances the clock, and takes no time. */
export class FastClock implements Pick<Clock, 'now' | 'wait'> {
  /** How far the clock is ahead. */
  #elapsed = 0
  readonly waits: number[] = []

  now(): number {
    return Date.now() + this.#elapsed
  }

  async wait(milliseconds: number): Promise<void> {
    this.#elapsed += milliseconds
    this.waits.push(milliseconds)
    await setImmediate()
  }
}

interface Wait {
  readonly milliseconds: number
  readonly until: number
  readonly end: () => void
}

/** Time passes only when the test says so. */
export class ManualClock implements Pick<Clock, 'now' | 'wait'> {
  #passed = 0
  /** When the clock was at zero, in milliseconds since 1970. */
  #start = Date.now()
  readonly #waits = new Set<Wait>()

  now(): number {
    return this.#start + this.#passed
  }

  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || milliseconds <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    const wait = { milliseconds, until: this.#passed + milliseconds, end }
    this.#waits.add(wait)
    signal.addEventListener('abort', end)
    await promise
    signal.removeEventListener('abort', end)
    this.#waits.delete(wait)
  }

  /** Lets time pass. */
  advance(milliseconds: number): void {
    this.#passed += milliseconds
    for (const { until, end } of this.#waits) if (until <= this.#passed) end()
  }

  /** Sets the clock back, which prolongs no wait. */
  setBack(milliseconds: number): void {
    this.#start -= milliseconds
  }

  /** Lets a second pass whenever WebhookDeliveries waits for its end, until the test ends. */
  async run(t: Test): Promise<void> {
    let isOver = false
    t.teardown(() => {
      isOver = true
    })
    while (!isOver) {
      const isIdle = [...this.#waits].some(({ milliseconds }) => milliseconds === INTERVAL_MS)
      if (isIdle) this.advance(INTERVAL_MS)
      await setTimeout(1)
    }
  }
}

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly webhook?: string
  readonly reason?: string
  readonly attempts?: number
}

export interface Place {
  readonly store: Store
  /** Starts to deliver, as one process does. */
  deliver(options?: Partial<ConstructorParameters<typeof WebhookDeliveries>[0]>): WebhookDeliveries
  /** Adds a webhook that begins now. */
  add(name: string, url: string, fields?: Partial<NewWebhook>): Promise<void>
  readonly log: LogLine[]
}

export async function newPlace(t: Test): Promise<Place> {
  const store = await openStore({ database: ':memory:', lockTimeout: 60_000 })
  const running: WebhookDeliveries[] = []
  t.teardown(async () => {
    await Promise.all(running.map((each) => each.close()))
    await store.close()
  })
  const log: LogLine[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) })
  return {
    store,
    log,
    deliver(options = {}) {
      const keepChanges = 3_600_000
      const codec = new PlantCodec([])
      const webhooks = new WebhookStore(store)
      const common = {
        store,
        webhooks,
        codec,
        log: logger,
        keepChanges,
        allowPrivate: true,
        ca: AUTHORITY,
      }
      const deliveries = new WebhookDeliveries({ ...common, ...options })
      running.push(deliveries)
      return deliveries
    },
    async add(name, url, fields = {}) {
      const page = await store.readChanges({ after: 'latest', limit: 1 })
      if (typeof page === 'string') throw new Error(page)
      await new WebhookStore(store).add(newWebhook(name, { url, cursor: page.next, ...fields }))
    },
  }
}

/** The webhook with a name. */
export async function webhookIn(store: Store, name: string): Promise<Webhook> {
  const webhook = (await new WebhookStore(store).list()).find((each) => each.name === name)
  if (webhook === undefined) throw new Error(`there is no webhook ${name}`)
  return webhook
}

/** Polls until a condition holds. */
export async function eventually(condition: () => unknown): Promise<void> {
  while (!(await condition())) await setTimeout(10)
}

/** Creates plants in the order of their ids. */
export async function createPlants(store: Store, first: number, count: number): Promise<void> {
  const plants = idsFrom(first, count).map((id) => ({ id, name: `plant ${id}` }))
  await createAll(store, plants)
}

export function idsFrom(first: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => BigInt(first + index))
}
