import { INT64_MIN } from '../../core/json/int64.ts'
import { retry } from '../../core/time/retries.ts'
import {
  isConsistent,
  type MirrorRestriction,
  type RestrictionResult,
  type RestrictionStep,
  type readRestriction,
  type restrict,
  STEP_TEXT_MAX,
} from '../../service/restriction.ts'
import { type PlantStore, StoreUnavailable } from '../../service/store/plant-store.ts'
import { Lag, type MirrorReport } from './lag.ts'
import { PendingChanges, type TransactionSize } from './pending-changes.ts'
import { type MirrorSource, PAGE_SIZE } from './source.ts'
import { MirrorError, SourceUnavailable } from './source-failures.ts'
import { type MirrorStep, type PartialMirror, prepareCopyStep, prepareFollowStep } from './steps.ts'

/** The store of a mirror, whose calls can fail until it is opened. */
export interface MirrorStore extends Pick<PlantStore, 'list'> {
  readRestriction(): ReturnType<typeof readRestriction>
  restrict(step: RestrictionStep): ReturnType<typeof restrict>
}

export interface MirrorOptions {
  readonly source: MirrorSource
  readonly store: MirrorStore
  /** Copy all plants again. */
  readonly restart?: boolean | undefined
  /** Stop when the mirror has caught up. */
  readonly once?: boolean | undefined
  readonly report: MirrorReport
  /** Stops the mirror between two transactions. */
  readonly signal: AbortSignal
  /** The largest transaction that is applied at once. */
  readonly transactionMax?: TransactionSize
}

/** Short, so that a silent network is soon noticed. */
const WAIT_SECONDS = 4

/** The delays after failures, in milliseconds. */
const DELAYS = { delayMs: 500, delayMsMax: 5000, jitter: true }

/** Services make no larger transactions. Only SQL does. */
const TRANSACTION_MAX: TransactionSize = { changes: 10_000, text: STEP_TEXT_MAX }

const LARGE =
  'a transaction is too large to be applied at once, so reads get 503 until it is applied completely'

const REFUSALS: { readonly [result in Exclude<RestrictionResult, 'done' | 'too-large'>]: string } =
  {
    unexpected: 'another command has promoted the database, or mirrors a service to it',
    'not-new':
      'the database was promoted or unfrozen, and only a new one can become a mirror; use a new database',
    'not-empty': 'the database contains plants, but a mirror needs an empty one',
    diverged:
      'the database differs from the source, whose feed has skipped or repeated changes; use --restart to copy all plants again',
  }

/**
 * Makes a database a mirror of a service, or continues one. Resolves once the signal is aborted or, with `once`, the
 * mirror has caught up. While the source or the database is unavailable, it retries.
 *
 * @throws MirrorError
 */
export async function mirror(options: MirrorOptions): Promise<void> {
  const { signal, once } = options
  const run = new MirrorRun(options)
  const { lag } = run
  const delayAfter = (error: unknown) => {
    if (!(error instanceof SourceUnavailable || error instanceof StoreUnavailable)) return undefined
    const place = error instanceof StoreUnavailable ? "the mirror's database: " : ''
    lag.fail(`${place}${error.message}`)
    return 0
  }
  try {
    while (!signal.aborted && (lag.isBehind || !once)) {
      await retry(() => run.step(), { ...DELAYS, delayAfter, signal })
      lag.step()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    lag.stop()
  }
}

class MirrorRun {
  readonly lag: Lag
  readonly #options: MirrorOptions
  /** The result of the last step, if it was a commit. */
  #mirror: MirrorRestriction | undefined
  #hasBegun = false
  #copied = 0
  #pending: PendingChanges | undefined
  /**
   * The maximum number of plants that a step copies and, unless one transaction has more, of changes that it applies.
   * Halved when a step was too large, and doubled again after each that was not.
   */
  #limit = PAGE_SIZE

  constructor(options: MirrorOptions) {
    this.#options = options
    this.lag = new Lag(options.source, options.report)
  }

  async step(): Promise<void> {
    const mirror = this.#mirror ?? (await this.#open())
    // After a failure or a wait, the database may have been promoted, or a commit made that seemed to fail.
    this.#mirror = undefined
    this.#hasBegun = true
    const { copyFrom } = mirror
    if (copyFrom === undefined) await this.#follow(mirror)
    else await this.#copy({ ...mirror, copyFrom })
  }

  async #open(): Promise<MirrorRestriction> {
    const { source, store, restart } = this.#options
    const expected = await store.readRestriction()
    if (expected === 'frozen') {
      throw new MirrorError('the database is frozen; run "plant-store unfreeze" first')
    }
    if (this.#hasBegun && expected === undefined) throw new MirrorError(REFUSALS.unexpected)
    const isNew = expected === undefined || (restart && !this.#hasBegun)
    if (!isNew) return expected
    const { cursor } = await source.readChanges('latest')
    const next = { source: source.url, cursor, copyFrom: INT64_MIN }
    await this.#commit({ expected, next })
    return next
  }

  async #copy(mirror: PartialMirror): Promise<void> {
    const { source, store, report } = this.#options
    const { copied, ...step } = await prepareCopyStep(mirror, source, store, this.#limit)
    if (!(await this.#commit(step))) return
    this.#copied += copied
    report.copied(this.#copied)
  }

  /**
   * Applies changes up to the end of a transaction. If one is too large for that, the mirror cannot be read until it has
   * applied all of it, in parts.
   */
  async #follow(mirror: MirrorRestriction): Promise<void> {
    const { source, transactionMax = TRANSACTION_MAX } = this.#options
    const { cursor, consistentAt } = mirror
    const isWhole = isConsistent(mirror)
    if (this.#pending?.applied !== cursor) this.#pending = new PendingChanges(cursor, consistentAt)
    const pending = this.#pending
    const mustRead = isWhole ? !pending.hasEnd : pending.isEmpty
    const isFeedEnd = mustRead && !(await this.#readMore(pending, isWhole))
    const limit = this.#limit
    const changes = isWhole ? pending.takeEnded(limit) : pending.takePart(limit)
    const isPart = !isWhole && !pending.isAtGoal
    if (changes.length > 0 || !isWhole) {
      const next = { source: source.url, cursor: pending.applied, ...(isPart && { consistentAt }) }
      if (!(await this.#commit(prepareFollowStep(mirror, next, changes)))) {
        if (isWhole && limit === 1) await this.#hide(mirror)
        return
      }
    } else if (pending.exceeds(transactionMax)) {
      await this.#hide(mirror)
    }
    if (!isPart && (changes.length > 0 || isFeedEnd)) await this.lag.note(changes)
  }

  /**
   * Reads a page of changes.
   *
   * @param isWhole whether the mirror needs the end of a transaction
   * @returns whether there were any
   */
  async #readMore(pending: PendingChanges, isWhole: boolean): Promise<boolean> {
    const { source } = this.#options
    const canWait = isWhole && !this.lag.isBehind && pending.isEmpty
    const { changes } = await source.readChanges(pending.cursor, canWait ? WAIT_SECONDS : 0)
    pending.add(changes)
    if (changes.length === 0) pending.noteEnd(pending.cursor)
    else if (pending.goal === undefined && !pending.hasEnd) {
      pending.noteEnd((await source.readChanges('latest')).cursor)
    }
    return changes.length > 0
  }

  /** Makes a mirror inconsistent until it has applied all changes that its source has now. */
  async #hide(mirror: MirrorRestriction): Promise<void> {
    this.lag.fallBehind(LARGE)
    const { cursor: consistentAt } = await this.#options.source.readChanges('latest')
    this.#pending = undefined
    await this.#commit({ expected: mirror, next: { ...mirror, consistentAt } })
  }

  /** Resolves to whether the step was made. If it was too large, the next one is smaller. */
  async #commit(step: MirrorStep): Promise<boolean> {
    const result = await this.#options.store.restrict(step)
    if (result === 'too-large') {
      this.#limit = Math.ceil(Math.min(this.#limit, step.changes?.length ?? 1) / 2)
      return false
    }
    if (result !== 'done') throw new MirrorError(REFUSALS[result])
    this.#limit = Math.min(2 * this.#limit, PAGE_SIZE)
    this.#mirror = step.next
    return true
  }
}
