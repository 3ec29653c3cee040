import { setTimeout } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { known } from '../../../../contract/known.ts'
import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { Retention } from '../../shared/engine.ts'
import type { RetentionClock } from '../../shared/retention-clock.ts'
import { CONTENT_COLUMNS } from '../../shared/rows.ts'
import { START } from './change-triggers.ts'

/** How often to look for changes to delete. */
const INTERVAL_MS = 1000

/** The time between deletions, for other commits. */
const PAUSE_MS = 10

export interface PruneMethods {
  /** Whether the feed exceeds its limits. */
  hasExcess(limits: ChangeLimits): boolean
  /** Deletes some of the changes that exceed them, in a transaction that other changes can share. */
  prune(limits: ChangeLimits): Promise<unknown>
}

/**
 * Deletes the oldest changes of a feed, in small steps, when it exceeds its limits. Does not keep the process running.
 *
 * @param clock for the same age
 * @param signal stops it
 */
export async function pruneChanges(
  { age, bytes }: Retention,
  clock: RetentionClock,
  { hasExcess, prune }: PruneMethods,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pause = INTERVAL_MS
    try {
      const now = Date.now()
      const limits = { before: now - age - clock.grace(now), bytes }
      if (hasExcess(limits)) {
        await prune(limits)
        pause = PAUSE_MS
      }
    } catch (error) {
      // Changes to plants report the failure.
      if (!(error instanceof StoreUnavailable)) throw error
    }
    await setTimeout(pause, undefined, { ref: false, signal }).catch(() => {})
  }
}

/** Changes that are neither too old nor too many stay in the feed. */
export interface ChangeLimits {
  /** Changes before this time are too old, in milliseconds since 1970. */
  readonly before: number
  /** The maximum size of the feed. */
  readonly bytes: number
}

/** The maximum number and size of the changes that one transaction deletes, which takes about a millisecond. */
const STEP_ROWS = 1000
const STEP_BYTES = 2 ** 18

interface FeedRow {
  readonly position: bigint
  readonly at: bigint
  readonly type: bigint
}

/**
 * Prepares a search for changes to delete.
 *
 * A change exceeds the limits if it is too old, or if the changes after it reach the maximum size. The row of the last
 * of these changes stays as the start of the feed, because its cursor misses nothing: if a store changes once a month, a
 * new change makes the previous one obsolete, but a reader of the feed must not have to read everything again.
 *
 * @returns a function that returns the position at which the feed should start after the next transaction, or undefined
 *   if there is nothing to delete
 */
export function prepareExcess(db: Database): (limits: ChangeLimits) => bigint | undefined {
  const end = db.prepare<[], bigint>('SELECT max(position) FROM changes').pluck()
  const oldest = db.prepare<[number], FeedRow>(
    'SELECT position, at, type FROM changes WHERE position >= 0 ORDER BY position LIMIT ? + 0',
  )
  return ({ before, bytes }) => {
    const first = oldest.get(1)
    const newest = end.get()
    const isExcess = ({ position, at }: FeedRow) => at < before || known(newest) - position >= bytes
    let start: FeedRow | undefined
    for (const row of oldest.iterate(STEP_ROWS + 1)) {
      if (!isExcess(row)) break
      start = row
      if (row.position - known(first).position > STEP_BYTES) break
    }
    return start === undefined || Number(start.type) === START ? undefined : start.position
  }
}

const EMPTY = CONTENT_COLUMNS.map((column) => `${column} = NULL`).join(', ')

/**
 * Prepares a transaction's part of the deletion. It searches again, because another process may have deleted the changes
 * since.
 */
export function preparePrune(db: Database): (limits: ChangeLimits) => undefined {
  const findExcess = prepareExcess(db)
  const deleteBefore = db.prepare('DELETE FROM changes WHERE position < ?')
  const makeStart = db.prepare(
    `UPDATE changes SET type = ${START}, id = 0, ${EMPTY} WHERE position = ?`,
  )
  return (limits): undefined => {
    const start = findExcess(limits)
    if (start === undefined) return
    deleteBefore.run(start)
    makeStart.run(start)
  }
}
