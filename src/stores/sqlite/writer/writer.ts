import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import type { Restriction } from '../../../../service/restriction.ts'
import type { ChangeOf } from '../../../../service/store/plant-store.ts'
import { KEYS_MAX } from '../../shared/page-limits.ts'
import { type ChangeList, isGuarded } from '../../shared/plant-change.ts'
import { preparePrune } from '../feed/change-pruner.ts'
import { MARK_END, RESET } from '../feed/change-triggers.ts'
import type { OpenFile } from '../file/file-identity.ts'
import { prepareRestrictionRead } from '../file/restriction-barrier.ts'
import { mapError } from '../file/sqlite-errors.ts'
import { prepareGuardedChanges } from './guarded-changes.ts'
import { preparePlantChanges } from './plant-changes.ts'
import { prepareRecordChanges } from './record-changes.ts'
import { prepareSortKeys } from './sort-keys.ts'
import type { SqliteMetrics } from './sqlite-metrics.ts'
import { type CommitResult, countChanges, isRefused, type WriteCall } from './write-call.ts'

/** Makes changes. The changes of one call share a transaction, and so one wait for the disk. */
export class Writer {
  readonly #db: Database
  readonly #file: OpenFile | undefined
  readonly #mapError: (error: unknown) => unknown
  readonly #commit: (changes: readonly WriteCall[]) => CommitResult[]
  #isJournalInMemory = false

  /**
   * @param file of the connection; undefined in memory
   * @param metrics measures the commits
   */
  constructor(db: Database, file?: OpenFile, metrics?: SqliteMetrics) {
    this.#db = db
    this.#file = file
    this.#mapError = file?.mapError ?? mapError
    const { begin, make, end } = prepareWrites(db)
    const markEnd = db.prepare(MARK_END)
    const makeAll = (changes: readonly WriteCall[]) => {
      begin()
      // No change can follow one that begins to refuse others, so these are last.
      const results: CommitResult[] = []
      for (const areGuarded of [false, true]) {
        for (const [index, change] of changes.entries()) {
          if (isGuardedCall(change) === areGuarded) results[index] = make(change)
        }
      }
      markEnd.run()
      end(changes)
      return results
    }
    this.#commit =
      metrics === undefined
        ? db.transaction(makeAll).immediate
        : prepareMeasuredCommit(db, makeAll, metrics)
  }

  /**
   * Makes all changes or none: in order, except that lists with a guard are last. Returns when they are on disk. Once
   * the transaction has affected much text, it postpones changes of large plants, and lists with such changes.
   *
   * @throws StoreUnavailable if the changes cannot be made now
   */
  commit(changes: readonly WriteCall[]): CommitResult[] {
    this.#file?.assertSound()
    try {
      this.#setJournalInMemory(changes.some(isList) && !changes.some(isGuardedCall))
      return this.#commit(changes)
    } catch (error) {
      throw this.#mapError(error)
    }
  }

  /**
   * Decides where SQLite keeps the statement journal: copies of the pages that a statement changes, to undo it if it fails.
   * Beyond 64 KB, SQLite writes the journal to a file, so that a list with random ids would take twice as long. In memory, it
   * makes single changes 8 % more expensive, and a step of a mirror, which has the longest lists, could need 100 MB.
   */
  #setJournalInMemory(isInMemory: boolean): void {
    if (this.#isJournalInMemory === isInMemory) return
    this.#db.pragma(`temp_store = ${isInMemory ? 'MEMORY' : 'DEFAULT'}`)
    this.#isJournalInMemory = isInMemory
  }

  close(): void {
    this.#db.close()
  }
}

function prepareMeasuredCommit(
  db: Database,
  makeAll: (changes: readonly WriteCall[]) => CommitResult[],
  { duration, changes: counts, sync }: SqliteMetrics,
): (changes: readonly WriteCall[]) => CommitResult[] {
  let made = 0
  const commit = db.transaction((changes: readonly WriteCall[]) => {
    const results = makeAll(changes)
    made = performance.now()
    return results
  }).immediate
  return (changes) => {
    const begun = performance.now()
    const results = commit(changes)
    const committed = performance.now()
    duration.observe((committed - begun) / 1000)
    sync.observe((committed - made) / 1000)
    const done = changes.filter((_, index) => {
      const result = known(results[index])
      return result !== 'postponed' && !isRefused(result)
    })
    counts.observe(done.reduce((sum, call) => sum + countChanges(call), 0))
    return results
  }
}

function isList(call: WriteCall): boolean {
  return call.type === 'apply'
}

function isGuardedCall(call: WriteCall): boolean {
  return call.type === 'apply' && isGuarded(call)
}

/**
 * Prepares functions that begin and end a transaction and make a change. The caller runs them in a transaction. A restriction
 * refuses a change before it looks at the plants.
 */
function prepareWrites(db: Database) {
  const plants = preparePlantChanges(db)
  const { mustWait, mustListWait } = plants
  const pruneChanges = preparePrune(db)
  const records = prepareRecordChanges(db)
  const applyGuarded = prepareGuardedChanges(db, plants.apply, records.change)
  const readRestriction = prepareRestrictionRead(db)
  const { completeChanged, indexPlants } = prepareSortKeys(db)
  const markEnd = db.prepare(MARK_END)
  const reset = (created: readonly ChangeOf<'create'>[]) => {
    db.exec(RESET)
    for (const plant of created) plants.change(plant)
    // Other changes can follow in the same transaction.
    markEnd.run()
    return 'created' as const
  }
  let refusedBy: Restriction | undefined
  const begin = () => {
    plants.begin()
    refusedBy = readRestriction()
  }
  const apply = (list: ChangeList) => {
    if (isGuarded(list)) return applyGuarded(list)
    if (refusedBy !== undefined) return { refusedBy }
    return mustListWait(list.changes) ? 'postponed' : plants.apply(list)
  }
  const make = (call: WriteCall): CommitResult => {
    switch (call.type) {
      case 'apply':
        return apply(call)
      case 'pruneChanges':
        return pruneChanges(call.limits)
      case 'indexPlants':
        return indexPlants()
      case 'reset':
        return reset(call.plants)
      case 'changeRecords':
        return records.changeSeveral(call.changes, call.mode)
      default:
        if (refusedBy !== undefined) return { refusedBy }
        return mustWait(call) ? 'postponed' : plants.change(call)
    }
  }
  const end = (calls: readonly WriteCall[]) => {
    completeChanged(calls.reduce((sum, call) => sum + countChanges(call), KEYS_MAX.plants))
  }
  return { begin, make, end }
}
