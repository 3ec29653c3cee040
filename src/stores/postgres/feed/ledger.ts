import type { Connections } from '../connection/connections.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { DATABASE_IDENTITY, NOW_MS } from './change-tables.ts'

/** The state of the feed, as every process that shares the database sees it. */
export interface FeedState {
  /** Whether a new feed must begin: the database was restored from a dump, so the feed belongs to another database. */
  readonly isObsolete: boolean
  /** The position of the last commit in the ledger. */
  readonly position: bigint
  /** Whether there are commits that the ledger lacks. */
  readonly isBehind: boolean
}

const IS_OBSOLETE = `database <> ${DATABASE_IDENTITY} AS "isObsolete"`

/**
 * The cost is independent of the number of changes: one lookup at the end of an index, and one for each transaction
 * that was open when the ledger was last complete.
 */
const STATE = `
  SELECT ${IS_OBSOLETE}, position,
         coalesce((SELECT tx FROM plant_changes ORDER BY tx DESC LIMIT 1) >= pg_snapshot_xmax(seen), false)
         OR EXISTS (
           SELECT FROM pg_snapshot_xip(seen) AS open
           WHERE (SELECT tx FROM plant_changes WHERE tx = open LIMIT 1) IS NOT NULL
         ) AS "isBehind"
  FROM plant_change_log`

export async function readFeedState(connections: Pick<Connections, 'query'>): Promise<FeedState> {
  return one(await connections.query<FeedState>(STATE))
}

/** The row of the feed while this transaction has locked it. */
export interface LockedFeed extends Pick<FeedState, 'isObsolete'> {
  /** The snapshot in which the ledger was last complete. */
  readonly xmax: string
  readonly xip: readonly string[]
}

const LOCK = `
  SELECT ${IS_OBSOLETE}, pg_snapshot_xmax(seen)::text AS xmax,
         ARRAY(SELECT pg_snapshot_xip(seen)::text) AS xip
  FROM plant_change_log FOR UPDATE`

/** A client that is lost keeps its locks until the server notices, which can take hours. */
const IDLE_MAX = '10s'

/**
 * The server can keep waiting for a lock after the client has given up. Without a limit, such waits would use up the
 * server's connections, and delay all others that need the lock.
 */
const LIMIT_WAIT = `
  SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', '${IDLE_MAX}', true)`

/** Limits the waits for locks in a transaction. */
export async function limitLockWait(run: Run, waitMs: number): Promise<void> {
  await run(LIMIT_WAIT, [`${waitMs}ms`])
}

/** Locks the feed until the transaction ends. Only one transaction at a time can change the ledger. */
export async function lockFeed(run: Run, waitMs: number): Promise<LockedFeed> {
  await limitLockWait(run, waitMs)
  return one(await run<LockedFeed>(LOCK))
}

/** The approximate sizes of a row of changes and of a commit in the tables and their indexes, without the arrays. */
const ROW_BYTES = 100
const COMMIT_BYTES = 100

const ARRAYS = ['sequences', 'types', 'ids', 'names', 'tags', 'fields']

const NEW_CHANGES = (condition: string) => `
  SELECT tx, sequence, ${ROW_BYTES} + ${ARRAYS.map((array) => `coalesce(pg_column_size(${array}), 0)`).join(' + ')} AS bytes
  FROM plant_changes WHERE ${condition}`

/**
 * Appends the transactions that are visible to this statement, and were not visible when the ledger was last complete.
 * If one has changed a plant after another, its number for that plant is greater than all numbers of the other, which
 * had committed before. So the order by the greatest number is the order of the changes to each plant.
 */
const APPEND = `
  WITH commits AS (
    SELECT tx, max(sequence) AS sequence, sum(bytes) + ${COMMIT_BYTES} AS bytes
    FROM (${NEW_CHANGES('tx >= $1::xid8')} UNION ALL ${NEW_CHANGES('tx = ANY($2::xid8[])')}) AS changes
    GROUP BY tx
  ), appended AS (
    INSERT INTO plant_commits (position, tx, sequence, at, bytes)
    SELECT feed.position + row_number() OVER (ORDER BY sequence), tx, sequence, ${NOW_MS},
           feed.bytes + sum(commits.bytes) OVER (ORDER BY sequence)
    FROM commits, plant_change_log AS feed
    RETURNING position, bytes
  )
  UPDATE plant_change_log
  SET position = coalesce((SELECT max(position) FROM appended), position),
      bytes = coalesce((SELECT max(bytes) FROM appended), bytes),
      seen = pg_current_snapshot()
  RETURNING position`

/**
 * Gives all commits that are visible now a position. Resolves to the last position.
 *
 * The snapshot must be taken after the feed is locked, so this is a statement of its own.
 */
export async function appendCommits(run: Run, { xmax, xip }: LockedFeed): Promise<bigint> {
  return one(await run<{ position: bigint }>(APPEND, [xmax, xip])).position
}
