import { setTimeout } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import type { Retention } from '../../shared/engine.ts'
import type { RetentionClock } from '../../shared/retention-clock.ts'
import { CONTENT_COLUMNS } from '../../shared/rows.ts'
import { MARK_END, START } from './change-triggers.ts'

/** How often to look for changes to delete. */
const INTERVAL_MS = 1000

/** The time between deletions, for other commits. */
const PAUSE_MS = 10

export interface PruneMethods {
  /** Whether the feed may exceed its limits. */
  hasExcess(limits: ChangeLimits): boolean
  /**
   * Deletes some of the changes that exceed them, in a transaction that other changes can share. Resolves to whether
   * there may be more.
   */
  prune(limits: ChangeLimits): Promise<boolean>
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
      if (hasExcess(limits) && (await prune(limits))) pause = PAUSE_MS
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

/**
 * How many changes a transaction examines, and the maximum number and size that it deletes, which takes about a
 * millisecond.
 */
const STEP_ROWS = 1000
const STEP_BYTES = 2 ** 18

interface FeedRow {
  readonly position: bigint
  readonly at: bigint
  readonly ends: bigint | null
}

/** Returns whether a change exceeds the limits: it is too old, or the changes after it reach the maximum size. */
function prepareComparison(db: Database): (row: FeedRow, limits: ChangeLimits) => boolean {
  const end = db.prepare<[], bigint>('SELECT max(position) FROM changes').pluck()
  return ({ position, at }, { before, bytes }) =>
    at < before || known(end.get()) - position >= bytes
}

const AFTER =
  'SELECT position, at, ends FROM changes WHERE position > ? ORDER BY position LIMIT ? + 0'

/** The position of the row with which the feed starts. The rows before it are no longer in the feed. */
export const FEED_START = `
  SELECT ifnull(
    (SELECT max(position) FROM changes WHERE type = ${START}),
    (SELECT min(position) FROM changes)
  )`

const IS_UNMARKED =
  'SELECT 1 FROM changes WHERE position = (SELECT max(position) FROM changes) AND ends = 0'

export const DELETE_SOME = `
  DELETE FROM changes WHERE position IN (
    SELECT position FROM changes
    WHERE position < ? AND position <= (SELECT min(position) FROM changes) + ${STEP_BYTES}
    ORDER BY position LIMIT ${STEP_ROWS}
  )`

/** Prepares a check whether `preparePrune` has something to do. */
export function prepareExcess(db: Database): (limits: ChangeLimits) => boolean {
  const isExcess = prepareComparison(db)
  const start = db.prepare<[], bigint>(FEED_START).pluck()
  const oldest = db.prepare<[], bigint>('SELECT min(position) FROM changes').pluck()
  const after = db.prepare<[bigint, number], FeedRow>(AFTER)
  const isUnmarked = db.prepare(IS_UNMARKED)
  return (limits) => {
    const from = known(start.get())
    const next = after.get(from, 1)
    if (next === undefined) return known(oldest.get()) < from
    return known(oldest.get()) < from || isUnmarked.get() !== undefined || isExcess(next, limits)
  }
}

const EMPTY = CONTENT_COLUMNS.map((column) => `${column} = NULL`).join(', ')

/**
 * Prepares a transaction's part of the deletion, which never cuts a transaction of the feed: the feed starts after the
 * last one of which all changes exceed the limits. The row of its last change stays as the start, because its cursor
 * misses nothing: if a store changes once a month, a new change makes the previous one obsolete, but a reader of the
 * feed must not have to read everything again. The rows before it are then deleted, in this transaction or in others.
 *
 * Another process may do the same.
 *
 * @returns a function that returns whether there may be more to do
 */
export function preparePrune(db: Database): (limits: ChangeLimits) => boolean {
  const isExcess = prepareComparison(db)
  const findStart = db.prepare<[], bigint>(FEED_START).pluck()
  const after = db.prepare<[bigint, number], FeedRow>(AFTER)
  const markEnd = db.prepare(MARK_END)
  const makeStart = db.prepare(
    `UPDATE changes SET type = ${START}, id = 0, ${EMPTY} WHERE position = ?`,
  )
  const deleteSome = db.prepare(DELETE_SOME)
  /**
   * All changes up to `examined` exceed the limits, and none after the start is known to end a transaction. If the feed
   * has another start, the last transaction was rolled back, or another process has deleted changes.
   */
  let last: { readonly start: bigint; readonly examined: bigint } | undefined
  return (limits) => {
    // Other programs do not mark what they change.
    markEnd.run()
    let start = known(findStart.get())
    let examined = last?.start === start ? last.examined : start
    let isMore = false
    for (const row of after.all(examined, STEP_ROWS)) {
      isMore = isExcess(row, limits)
      if (!isMore) break
      examined = row.position
      // An earlier version has marked nothing.
      if (row.ends !== 0n) start = row.position
    }
    if (start > known(findStart.get())) makeStart.run(start)
    last = { start, examined }
    return deleteSome.run(start).changes > 0 || isMore
  }
}
