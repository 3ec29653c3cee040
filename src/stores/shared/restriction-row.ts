import { INT64_MIN } from '../../../contract/int64.ts'
import { known } from '../../../contract/known.ts'
import type { MirrorRestriction, Restriction } from '../../../service/restriction.ts'

/**
 * The row of the table `plant_restriction`. There is none if the database has never been restricted. Once a restriction
 * has ended, the row has only the cursor ENDED.
 */
export interface RestrictionRow {
  /** Null if the database is not a mirror. */
  readonly source: string | null
  readonly cursor: string | null
  readonly copy_from: bigint | null
  readonly consistent_at: string | null
}

/** The columns in the order of `restrictionValues`. */
export const RESTRICTION_COLUMNS = ['source', 'cursor', 'copy_from', 'consistent_at'] as const

const ENDED = 'ended'

export function toRestriction(row: RestrictionRow | undefined): Restriction | undefined {
  if (row === undefined) return undefined
  const { source, cursor, copy_from: copyFrom, consistent_at: consistentAt } = row
  if (source === null) return cursor === ENDED ? undefined : 'frozen'
  const mirror: MirrorRestriction = { source, cursor: known(cursor) }
  return {
    ...mirror,
    ...(copyFrom !== null && { copyFrom }),
    ...(consistentAt !== null && { consistentAt }),
  }
}

export function restrictionValues(restriction?: Restriction): (string | bigint | null)[] {
  if (restriction === undefined) return [null, ENDED, null, null]
  if (restriction === 'frozen') return RESTRICTION_COLUMNS.map(() => null)
  const { source, cursor, copyFrom = null, consistentAt = null } = restriction
  return [source, cursor, copyFrom, consistentAt]
}

/** Whether two restrictions are the same in every part. */
export function isSameRestriction(one?: Restriction, other?: Restriction): boolean {
  const values = restrictionValues(other)
  return restrictionValues(one).every((value, index) => value === values[index])
}

/** Whether a copy begins, and with it a new change feed. See RestrictionStep. */
export function beginsCopy(next: Restriction | undefined): boolean {
  return typeof next === 'object' && next.copyFrom === INT64_MIN
}
