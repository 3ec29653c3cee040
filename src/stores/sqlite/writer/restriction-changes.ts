import Sqlite, { type Database } from 'better-sqlite3'
import { known } from '../../../../contract/known.ts'
import type { ListResult } from '../../../../service/plant-store.ts'
import {
  beginsMirror,
  hasEffect,
  type RestrictionResult,
  type RestrictionStep,
  STEP_TEXT_MAX,
} from '../../../../service/restriction.ts'
import { restrictedError } from '../../../config/restricted-error.ts'
import type { ChangeList } from '../../shared/plant-change.ts'
import {
  beginsCopy,
  isSameRestriction,
  RESTRICTION_COLUMNS,
  restrictionValues,
} from '../../shared/restriction-row.ts'
import { RENEW_FEED } from '../feed/change-triggers.ts'
import {
  prepareRestrictionRead,
  RAISE_BARRIER,
  REMOVE_BARRIER,
} from '../file/restriction-barrier.ts'

/** Thrown to roll a step back. */
class StepRefused extends Error {
  readonly result: RestrictionResult

  constructor(result: RestrictionResult) {
    super(result)
    this.result = result
  }
}

/**
 * Returns a function that turns the error of a refused change into StoreUnavailable, while its transaction is open. It
 * returns any other error unchanged.
 */
export function prepareRefusal(db: Database): (error: unknown) => unknown {
  const read = prepareRestrictionRead(db)
  return (error) => {
    const isRefusal =
      error instanceof Sqlite.SqliteError && error.code === 'SQLITE_CONSTRAINT_TRIGGER'
    return isRefusal ? restrictedError(known(read())) : error
  }
}

/**
 * Prepares RestrictionStore.restrict. The caller runs it in a transaction, which can contain other changes.
 *
 * @param apply makes the changes of a list in the transaction
 */
export function prepareRestrictionChange(
  db: Database,
  apply: (list: ChangeList) => ListResult,
): (step: RestrictionStep) => RestrictionResult {
  const read = prepareRestrictionRead(db)
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1')
  const anyRestriction = db.prepare('SELECT 1 FROM plant_restriction')
  const clear = db.prepare('DELETE FROM plant_restriction')
  const set = db.prepare(
    `INSERT INTO plant_restriction (${RESTRICTION_COLUMNS.join()})
     VALUES (${RESTRICTION_COLUMNS.map(() => '?').join()})`,
  )
  // Within a transaction, this is a savepoint.
  const make = db.transaction((step: RestrictionStep) => {
    const { expected, next, changes = [] } = step
    clear.run()
    const results = apply({ changes, mode: 'each', textMax: STEP_TEXT_MAX })
    if (results === 'too-large') throw new StepRefused(results)
    if (!hasEffect(step, results)) throw new StepRefused('diverged')
    set.run(...restrictionValues(next))
    if (expected === undefined && next !== undefined) db.exec(RAISE_BARRIER)
    if (expected !== undefined && next === undefined) db.exec(REMOVE_BARRIER)
    if (beginsCopy(next)) db.exec(RENEW_FEED)
  })
  return (step) => {
    if (!isSameRestriction(step.expected, read())) return 'unexpected'
    if (beginsMirror(step) && anyRestriction.get() !== undefined) return 'not-new'
    if (beginsMirror(step) && anyPlant.get() !== undefined) return 'not-empty'
    try {
      make(step)
      return 'done'
    } catch (error) {
      if (error instanceof StepRefused) return error.result
      throw error
    }
  }
}
