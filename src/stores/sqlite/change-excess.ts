import type { Database } from 'better-sqlite3'

/** Changes that are neither too old nor too many stay in the log. */
export interface ChangeLimits {
  /** Changes before this time are too old, in milliseconds since 1970. */
  readonly before: number
  /** The maximum size of the log. */
  readonly bytes: number
}

/** Changes that one transaction deletes at most, in number and size: it takes about a millisecond. */
const STEP_ROWS = 1000
const STEP_BYTES = 2 ** 18

interface Row {
  readonly position: bigint
  readonly at: bigint
}

/**
 * Prepares a search for changes to delete.
 *
 * @returns a function that returns the position up to which the next transaction should delete them, or undefined if
 *   the log is within its limits. The last row is never among them, because cursors of followers that are up to date
 *   refer to it.
 */
export function prepareExcess(db: Database): (limits: ChangeLimits) => bigint | undefined {
  const end = db.prepare<[], bigint | null>('SELECT max(position) FROM changes').pluck()
  const oldest = db.prepare<[number], Row>(
    'SELECT position, at FROM changes WHERE position >= 0 ORDER BY position LIMIT ? + 0',
  )
  return ({ before, bytes }) => {
    const newest = end.get() ?? null
    if (newest === null) return undefined
    const isExcess = ({ position, at }: Row) =>
      position < newest && (at < before || newest - position >= bytes)
    const [first] = oldest.all(1)
    if (first === undefined || !isExcess(first)) return undefined
    let last = first.position
    for (const row of oldest.iterate(STEP_ROWS)) {
      if (!isExcess(row) || row.position - first.position > STEP_BYTES) break
      last = row.position
    }
    return last
  }
}
