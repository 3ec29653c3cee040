import { type DatabaseOptions, WAL_PAGES } from '../file/database.ts'
import { openExisting } from '../file/existing-database.ts'
import { prepareCheckpoint } from '../writer/checkpointer.ts'

/** Pages copied per step without a limit: 16 MB, which is also the size of SQLite's page cache. */
const PAGES_PER_STEP = 4000

/** Pages copied per step with a limit: 1 MB, so that commits of the service wait for at most that much. */
const PAGES_PER_LIMITED_STEP = 256

/**
 * The length of the WAL, 512 MB, above which a copy ignores its limit. Until the copy ends, its snapshot keeps the
 * service from reusing the WAL.
 */
export const WAL_PAGES_MAX = 8 * WAL_PAGES

/** The steps of a copy and the pauses between them. */
export interface CopyPace {
  readonly pagesPerStep: number
  /** Blocks the thread until the next step may start. */
  pause(): void
  close(): void
}

export const UNLIMITED: CopyPace = { pagesPerStep: PAGES_PER_STEP, pause() {}, close() {} }

export interface LimitedPaceOptions extends DatabaseOptions {
  readonly bytesPerSecond: number
  readonly walPagesMax?: number
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
  /** Blocks the thread for a number of milliseconds. */
  readonly sleep?: (ms: number) => void
}

/**
 * Limits the rate of a copy. Time lost, for example to a slow disk, is not made up for later.
 *
 * @throws StoreError, SqliteError if the database cannot be opened
 */
export function limitPace(options: LimitedPaceOptions): CopyPace {
  const { bytesPerSecond, walPagesMax = WAL_PAGES_MAX } = options
  const { now = () => performance.now(), sleep = block } = options
  // The connection that copies cannot read the length, because it is in a transaction.
  const db = openExisting(options)
  const inspect = prepareCheckpoint(db, 'NOOP')
  const pageSize = db.pragma('page_size', { simple: true }) as number
  const stepMs = (PAGES_PER_LIMITED_STEP * pageSize * 1000) / bytesPerSecond
  let due = Number.NEGATIVE_INFINITY
  return {
    pagesPerStep: PAGES_PER_LIMITED_STEP,
    pause() {
      const time = now()
      due = inspect().log > walPagesMax ? time : Math.max(time, due + stepMs)
      if (due > time) sleep(due - time)
    },
    close: () => db.close(),
  }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
