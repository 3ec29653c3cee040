import type { Database } from 'better-sqlite3'
import { START } from './change-log.ts'

/** Changes that are neither too old nor too many stay in the log. */
export interface ChangeLimits {
  /** Changes before this time are too old, in milliseconds since 1970. */
  readonly before: number
  /** The maximum size of the log. */
  readonly bytes: number
}

/** The maximum number and size of the changes that one transaction deletes, which takes about a millisecond. */
const STEP_ROWS = 1000
const STEP_BYTES = 2 ** 18

interface Row {
  readonly position: bigint
  readonly at: bigint
  readonly type: bigint
}

/**
 * Prepares a search for changes to delete.
 *
 * A change exceeds the limits if it is too old, or if the changes after it reach the maximum size. The row of the last
 * of these changes stays as the start of the log, because its cursor misses nothing: if a store changes once a month, a
 * new change makes the previous one obsolete, but a follower must not have to read everything again.
 *
 * @returns a function that returns the position at which the log should start after the next transaction, or undefined
 *   if there is nothing to delete
 */
export function prepareExcess(db: Database): (limits: ChangeLimits) => bigint | undefined {
  const end = db.prepare<[], bigint | null>('SELECT max(position) FROM changes').pluck()
  const oldest = db.prepare<[number], Row>(
    'SELECT position, at, type FROM changes WHERE position >= 0 ORDER BY position LIMIT ? + 0',
  )
  return ({ before, bytes }) => {
    const [first] = oldest.all(1)
    // The log is off.
    if (first === undefined) return undefined
    const newest = end.get() as bigint
    const isExcess = ({ position, at }: Row) => at < before || newest - position >= bytes
    let start: Row | undefined
    for (const row of oldest.iterate(STEP_ROWS + 1)) {
      if (!isExcess(row)) break
      start = row
      if (row.position - first.position > STEP_BYTES) break
    }
    return start === undefined || Number(start.type) === START ? undefined : start.position
  }
}
