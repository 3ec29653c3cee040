import type { Database } from 'better-sqlite3'
import type { ListResult } from '../../../../service/plant-store.ts'
import {
  type GuardedChange,
  type GuardedResult,
  hasEffect,
  type RecordChange,
} from '../../../../service/record-store.ts'
import type { ChangeList } from '../../shared/plant-change.ts'
import { RENEW_FEED } from '../feed/change-triggers.ts'
import { RAISE_BARRIER, REMOVE_BARRIER } from '../file/restriction-barrier.ts'

/** Thrown to roll a change back. */
class Refused extends Error {
  readonly result: GuardedResult

  constructor(result: GuardedResult) {
    super(result)
    this.result = result
  }
}

/**
 * Prepares GuardedStore.changeGuarded. The caller runs it in a transaction, which can contain other changes.
 *
 * @param apply makes the changes of a list in the transaction
 * @param changeRecord changes a record, and returns whether it did
 */
export function prepareGuardedChange(
  db: Database,
  apply: (list: ChangeList) => ListResult,
  changeRecord: (change: RecordChange) => boolean,
): (change: GuardedChange) => GuardedResult {
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1')
  // Within a transaction, this is a savepoint.
  const make = db.transaction((change: GuardedChange) => {
    const { record, changes, textMax, guard } = change
    const { expected, next } = record
    if (expected !== undefined && !changeRecord({ ...record, next: undefined })) {
      throw new Refused('unexpected')
    }
    if (change.mustBeEmpty && anyPlant.get() !== undefined) throw new Refused('not-empty')
    const results = apply({ changes, mode: 'each', textMax })
    if (results === 'too-large') throw new Refused(results)
    if (!hasEffect(change, results)) throw new Refused('diverged')
    if (!changeRecord({ ...record, expected: undefined, next })) throw new Refused('unexpected')
    if (guard === 'begin') db.exec(RAISE_BARRIER)
    if (guard === 'end') db.exec(REMOVE_BARRIER)
    if (change.renewsFeed) db.exec(RENEW_FEED)
  })
  return (change) => {
    try {
      make(change)
      return 'done'
    } catch (error) {
      if (error instanceof Refused) return error.result
      throw error
    }
  }
}
