/** A source in memory, and a database that mirrors it. */
import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { INT64_MAX } from '../../core/json/int64.ts'
import {
  isConsistent,
  type MirrorRestriction,
  type RestrictionResult,
  type RestrictionStep,
} from '../../service/restriction.ts'
import type { Change } from '../../service/store/change-feed.ts'
import type { Plant, StoredPlant } from '../../service/store/plant-store.ts'
import { hasEffect } from '../../src/stores/shared/plant-change.ts'
import { replay } from '../stores/feed-reads.ts'
import { PlantModel } from '../stores/plant-model.ts'
import { byId } from '../stores/plants.ts'
import { inTurn, type Schedule } from './schedules.ts'

export const URL = 'https://source.example'
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

interface Write {
  readonly id: bigint
  readonly isRemoval: boolean
}

export interface ModelOptions {
  readonly outcomes: readonly Outcome[]
  /** The ids of plants from an earlier copy of another source. */
  readonly leftovers: readonly bigint[]
  /** Whether the source says where transactions end. */
  readonly isMarked: boolean
  /** How many changes of a step that follows the source are not too large. */
  readonly stepMax: number
}

/** A source, and the database of its mirror. */
export class Model {
  readonly schedule: Schedule
  readonly nextOutcome: () => Outcome
  readonly feed: Change[] = []
  hasKilled = false
  isPromoted = false
  #restriction: MirrorRestriction | undefined
  #mirrored = new Map<bigint, Plant>()
  readonly #earlierCopy: MirrorRestriction | undefined
  #added = Promise.withResolvers<void>()

  readonly #isMarked: boolean
  readonly #stepMax: number
  /** How many changes there were after each transaction. */
  readonly #ends = new Set([0])

  constructor(schedule: Schedule, { outcomes, leftovers, isMarked, stepMax }: ModelOptions) {
    this.schedule = schedule
    this.#isMarked = isMarked
    this.#stepMax = stepMax
    this.nextOutcome = inTurn(outcomes, 'done')
    if (leftovers.length > 0) this.#earlierCopy = { source: URL, cursor: 'earlier' }
    this.#restriction = this.#earlierCopy
    for (const id of leftovers) this.#mirrored.set(id, { name: 'earlier' })
  }

  /** Whether all plants must be copied again. */
  get needsRestart(): boolean {
    return this.#restriction !== undefined && this.#restriction === this.#earlierCopy
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

  /** Makes changes in one transaction. */
  write(changes: readonly Write[]): void {
    for (const change of changes) this.#add(change)
    this.#ends.add(this.feed.length)
    const last = this.feed.at(-1)
    if (last !== undefined && this.#isMarked) {
      this.feed[this.feed.length - 1] = { ...last, endsTransaction: true }
    }
    this.#added.resolve()
    this.#added = Promise.withResolvers()
  }

  #add({ id, isRemoval }: Write): void {
    const place = { cursor: cursorOf(this.feed.length + 1), at: AT, id }
    const isStored = this.plantsAt(this.feed.length).some((plant) => plant.id === id)
    const plant = { name: place.cursor }
    if (isStored && isRemoval) this.feed.push({ ...place, type: 'removed' })
    else this.feed.push({ ...place, type: isStored ? 'changed' : 'created', plant })
  }

  /** Makes the mirror an ordinary database. */
  promote(): void {
    this.isPromoted = true
    this.#restriction = undefined
  }

  /** Resolves when the source has another change. */
  added(): Promise<void> {
    return this.#added.promise
  }

  apply(step: RestrictionStep): RestrictionResult {
    const { expected, next, changes = [] } = step
    if (!isDeepStrictEqual(expected, this.#restriction)) return 'unexpected'
    if (this.isPromoted) return 'not-new'
    const isCopy = (expected as MirrorRestriction | undefined)?.copyFrom !== undefined
    if (changes.length > this.#stepMax && !isCopy) return 'too-large'
    const plants = new PlantModel(this.mirrored())
    if (!hasEffect({ effect: step.effect }, plants.apply(changes, 'each'))) return 'diverged'
    this.#mirrored = new Map(plants.exportPlants().map(({ id, ...plant }) => [id, plant]))
    this.#restriction = next as MirrorRestriction
    this.#check(this.#restriction)
    return 'done'
  }

  #check({ cursor, copyFrom = INT64_MAX }: MirrorRestriction): void {
    if (this.isConsistent) {
      this.schedule.expect(this.#ends.has(this.position), true, 'a mirror has whole transactions')
      const expected = this.plantsAt(this.position)
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

export function cursorOf(count: number): string {
  return `c${count}`
}

export function positionOf(cursor: string): number {
  return Number(cursor.slice(1))
}
