import type { Database } from 'better-sqlite3'
import type { ListResult } from '../../../../service/store/plant-store.ts'
import type { Guard, RecordChange } from '../../../../service/store/record-store.ts'
import { type GuardedList, hasEffect } from '../../shared/plant-change.ts'
import { RENEW_FEED } from '../feed/change-triggers.ts'
import { RAISE_BARRIER, REMOVE_BARRIER } from '../file/restriction-barrier.ts'

/** Thrown to roll changes back. */
class Refused extends Error {
  readonly result: ListResult<Guard>

  constructor(result: ListResult<Guard> & string) {
    super(result)
    this.result = result
  }
}

/**
 * Prepares PlantStore.apply with a guard. The caller runs it in a transaction, which can contain other changes.
 *
 * @param apply makes the changes of a list in the transaction
 * @param changeRecord changes a record, and returns whether it did
 */
export function prepareGuardedChanges(
  db: Database,
  apply: (list: GuardedList) => ListResult,
  changeRecord: (change: RecordChange) => boolean,
): (list: GuardedList) => ListResult<Guard> {
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1')
  // Within a transaction, this is a savepoint.
  const make = db.transaction((list: GuardedList) => {
    const { record, restricts, mustBeEmpty, renewsFeed } = list.mode
    const { expected, next } = record
    if (expected !== undefined && !changeRecord({ ...record, next: undefined })) {
      throw new Refused('unexpected')
    }
    if (mustBeEmpty && anyPlant.get() !== undefined) throw new Refused('not-empty')
    const results = apply(list)
    if (results === 'too-large') throw new Refused(results)
    if (!hasEffect(list.mode, results)) throw new Refused('diverged')
    if (!changeRecord({ ...record, expected: undefined, next })) throw new Refused('unexpected')
    if (restricts === 'begin') db.exec(RAISE_BARRIER)
    if (restricts === 'end') db.exec(REMOVE_BARRIER)
    if (renewsFeed) db.exec(RENEW_FEED)
    return results
  })
  return (list) => {
    try {
      return make(list)
    } catch (error) {
      if (error instanceof Refused) return error.result
      throw error
    }
  }
}
