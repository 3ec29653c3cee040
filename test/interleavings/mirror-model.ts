/** A source in memory and a database that mirrors it, whose calls take effect and respond when the schedule says so. */
import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { INT64_MAX, INT64_MIN } from '../../contract/int64.ts'
import type { Change } from '../../service/change-feed.ts'
import { type Plant, type StoredPlant, StoreUnavailable } from '../../service/plant-store.ts'
import {
  isConsistent,
  type MirrorRestriction,
  type RestrictionResult,
  type RestrictionStep,
} from '../../service/restriction.ts'
import { MirrorError, SourceUnavailable } from '../../src/mirror/failures.ts'
import { type MirrorOptions, mirror } from '../../src/mirror/mirror.ts'
import type { FeedPage, PlantPage, Source } from '../../src/mirror/source.ts'
import { replay } from '../stores/changes.ts'
import { byId, pageWith } from '../stores/plants.ts'
import { aborted, inTurn, type Schedule } from './schedules.ts'

const URL = 'https://source.example'
const AT = new Date(0).toISOString()

/** As long as the longest delay after failures. */
const TICK_MS = 5000

/** The result of a call. A lost one has taken effect, but its caller does not know. */
export type Outcome = 'done' | 'failed' | 'lost'

/** Replaces the timers and the clock, so that time passes only in steps. */
export class FakeClock {
  #now = 0

  constructor(t: Test) {
    t.intercept(performance, 'now', { value: () => this.#now })
    // So that a replay has the same delays.
    t.intercept(Math, 'random', { value: () => 0.5 })
  }

  start(): void {
    mock.timers.enable({ apis: ['setTimeout'] })
    syncBuiltinESMExports()
  }

  tick(): void {
    this.#now += TICK_MS
    mock.timers.tick(TICK_MS)
  }

  stop(): void {
    mock.timers.reset()
    syncBuiltinESMExports()
  }
}

/** A source, and the database of its mirror. */
export class Model {
  readonly schedule: Schedule
  readonly nextOutcome: () => Outcome
  readonly feed: Change[] = []
  hasKilled = false
  #restriction: MirrorRestriction | undefined
  readonly #mirrored = new Map<bigint, Plant>()
  #added = Promise.withResolvers<void>()

  constructor(schedule: Schedule, outcomes: readonly Outcome[]) {
    this.schedule = schedule
    this.nextOutcome = inTurn(outcomes, 'done')
  }

  get restriction(): MirrorRestriction | undefined {
    return this.#restriction
  }

  /** How many changes the mirror has applied. */
  get position(): number {
    return this.#restriction === undefined ? -1 : positionOf(this.#restriction.cursor)
  }

  get isConsistent(): boolean {
    return this.#restriction !== undefined && isConsistent(this.#restriction)
  }

  /** The plants of the source after some changes. */
  plantsAt(position: number): StoredPlant[] {
    return replay(this.feed.slice(0, position))
  }

  mirrored(): StoredPlant[] {
    return byId(Array.from(this.#mirrored, ([id, plant]) => ({ id, ...plant })))
  }

  write({ id, isRemoval }: { readonly id: bigint; readonly isRemoval: boolean }): void {
    const place = { cursor: cursorOf(this.feed.length + 1), at: AT, id }
    const isStored = this.plantsAt(this.feed.length).some((plant) => plant.id === id)
    const plant = { name: place.cursor }
    if (isStored && isRemoval) this.feed.push({ ...place, type: 'removed' })
    else this.feed.push({ ...place, type: isStored ? 'changed' : 'created', plant })
    this.#added.resolve()
    this.#added = Promise.withResolvers()
  }

  /** Resolves when the source has another change. */
  added(): Promise<void> {
    return this.#added.promise
  }

  apply({ expected, next, stored = [], removed = [], effect }: RestrictionStep): RestrictionResult {
    if (!isDeepStrictEqual(expected, this.#restriction)) return 'unexpected'
    const created = stored.filter(({ id }) => !this.#mirrored.has(id)).length
    const existing = removed.filter((id) => this.#mirrored.has(id)).length
    const actual = { created, removed: existing }
    if (effect !== undefined && !isDeepStrictEqual(effect, actual)) return 'diverged'
    for (const { id, ...plant } of stored) this.#mirrored.set(id, plant)
    for (const id of removed) this.#mirrored.delete(id)
    this.#restriction = next as MirrorRestriction
    this.#check(this.#restriction)
    return 'done'
  }

  #check({ cursor, copyFrom = INT64_MAX }: MirrorRestriction): void {
    if (this.isConsistent) {
      const expected = this.plantsAt(positionOf(cursor))
      this.#expectSame(this.mirrored(), expected, 'a mirror is its source at one moment')
    }
    const isCopied = ({ id }: StoredPlant) => id < copyFrom
    const later = new Map(this.#mirrored)
    for (const { id, plant } of this.feed.slice(positionOf(cursor))) {
      if (plant === undefined) later.delete(id)
      else later.set(id, plant)
    }
    const caughtUp = byId(Array.from(later, ([id, plant]) => ({ id, ...plant })))
    const current = this.plantsAt(this.feed.length)
    const message = 'with the changes that follow, what is copied is the source'
    this.#expectSame(caughtUp.filter(isCopied), current.filter(isCopied), message)
  }

  #expectSame(some: readonly StoredPlant[], others: readonly StoredPlant[], message: string): void {
    const print = (plants: readonly StoredPlant[]) =>
      plants.map(({ id, name }) => `${id} ${name}`).join()
    this.schedule.expect(print(some), print(others), message)
  }
}

/** A process that mirrors. */
export class Process {
  /** Resolves if the process ends as it should. */
  readonly ended: Promise<void>
  readonly #model: Model
  readonly #stop = new AbortController()
  #isKilled = false

  constructor(model: Model, options: Pick<MirrorOptions, 'restart' | 'once'>) {
    this.#model = model
    const { signal } = this.#stop
    const source: Pick<Source, 'url' | 'readPlants' | 'readChanges'> = {
      url: URL,
      readPlants: (after) => this.#readSource('plants', () => this.#plantsAfter(after)),
      readChanges: (after, wait) => this.#readChanges(after, wait),
    }
    const store: MirrorOptions['store'] = {
      readRestriction: () => this.#callStore('restriction', () => model.restriction),
      list: ({ after = INT64_MIN, limit }) =>
        this.#callStore('list', () => {
          const rest = model.mirrored().filter(({ id }) => id > after)
          const page = rest.slice(0, Math.min(limit, 3))
          return pageWith(page, page.length < rest.length ? page.at(-1)?.id : undefined)
        }),
      restrict: (step) => this.#callStore('restrict', () => model.apply(step)),
    }
    const report = { copied: () => {}, behind: () => {}, caughtUp: () => {} }
    const run = mirror({ source: source as Source, store, report, signal, ...options })
    this.ended = run.catch((error) => {
      // Of two processes that mirror at the same time, one gives up.
      const isExpected = error instanceof MirrorError && model.hasKilled
      model.schedule.expect(isExpected, true, `the mirror ends: ${error}`)
    })
  }

  abort(): Promise<void> {
    this.#stop.abort()
    return this.ended
  }

  kill(): void {
    this.#isKilled = true
    this.#model.hasKilled = true
  }

  /** A step at which a process that is killed stops. */
  async #step(label: string): Promise<void> {
    await this.#model.schedule.step(label)
    if (this.#isKilled) await new Promise(() => {})
  }

  async #callStore<Result>(label: string, call: () => Result): Promise<Result> {
    await this.#model.schedule.step(label)
    const outcome = this.#model.nextOutcome()
    if (outcome === 'failed') throw new StoreUnavailable('failing', 'locked')
    const result = call()
    await this.#step(`${label} responds`)
    if (outcome === 'lost') throw new StoreUnavailable('failing', 'the connection was lost')
    return result
  }

  async #readSource<Page>(label: string, read: () => Page): Promise<Page> {
    const { signal } = this.#stop
    const response = async () => {
      await this.#step(label)
      const page = read()
      await this.#step(`${label} respond`)
      if (this.#model.nextOutcome() !== 'done') throw new SourceUnavailable('cut')
      return page
    }
    const cut = async () => {
      await aborted(signal)
      throw signal.reason
    }
    return Promise.race([response(), cut()])
  }

  #plantsAfter(after = INT64_MIN): PlantPage {
    const { feed } = this.#model
    const rest = this.#model.plantsAt(feed.length).filter(({ id }) => id > after)
    const plants = rest.slice(0, 2)
    return { plants, next: plants.at(-1)?.id }
  }

  async #readChanges(after: string, wait = 0): Promise<FeedPage> {
    const { feed } = this.#model
    if (after === 'latest') {
      const read = () => ({ changes: [], cursor: cursorOf(feed.length) })
      return this.#readSource('end', read)
    }
    const isEnd = wait > 0 && positionOf(after) === feed.length
    if (isEnd) await Promise.race([this.#model.added(), aborted(this.#stop.signal)])
    return this.#readSource('changes', () => {
      const changes = feed.slice(positionOf(after), positionOf(after) + 2)
      return { changes, cursor: changes.at(-1)?.cursor ?? after }
    })
  }
}

function cursorOf(count: number): string {
  return `c${count}`
}

function positionOf(cursor: string): number {
  return Number(cursor.slice(1))
}
