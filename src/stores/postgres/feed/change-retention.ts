import { setTimeout } from 'node:timers/promises'
import type { OnProblem, Retention } from '../../shared/engine.ts'
import { RetentionClock } from '../../shared/retention-clock.ts'
import type { Connections } from '../connection/connections.ts'
import { one } from '../connection/pooled-client.ts'
import { NOW_MS } from './change-tables.ts'

/** How many commits are examined at once. */
const COMMITS_MAX = 1000

/** How many rows of changes are deleted in one transaction, so that no statement takes long. */
const ROWS_MAX = 1000

/**
 * Finds how far the feed can be cut: from its start, commits are obsolete up to the first one that must be kept. The
 * last obsolete commit stays, because a reader of the feed that has read it has missed nothing.
 *
 * If the server's clock is set back, later commits can look older than earlier ones.
 */
export const FIND_OLDEST = `
  SELECT "feedId", max(position) AS oldest
  FROM (
    SELECT feed.id AS "feedId", commits.position,
           bool_and(commits.at < ${NOW_MS} - $1 OR feed.bytes - commits.bytes >= $2) OVER (ORDER BY commits.position) AS "isObsolete"
    FROM plant_change_log AS feed CROSS JOIN LATERAL (
      SELECT position, at, bytes FROM plant_commits
      WHERE position >= feed.oldest ORDER BY position LIMIT ${COMMITS_MAX}
    ) AS commits
  ) AS found
  WHERE "isObsolete"
  GROUP BY "feedId"`

/** Does nothing if another process has done so already, or has begun a new feed. */
const SET_OLDEST =
  'UPDATE plant_change_log SET oldest = $1 WHERE id = $2 AND oldest < $1 RETURNING id'

/** Skips commits that another process is deleting. */
export const TAKE = `
  SELECT position, tx::text AS tx FROM plant_commits
  WHERE position < (SELECT oldest FROM plant_change_log) ORDER BY position LIMIT ${COMMITS_MAX}
  FOR UPDATE SKIP LOCKED`

const DELETE_CHANGES = `
  DELETE FROM plant_changes WHERE ctid = ANY(ARRAY(
    SELECT changes.row FROM unnest($1::xid8[]) AS commits (tx) CROSS JOIN LATERAL (
      SELECT ctid AS row FROM plant_changes WHERE tx = commits.tx LIMIT ${ROWS_MAX}
    ) AS changes
    LIMIT ${ROWS_MAX}
  )) RETURNING 1 AS deleted`

const DELETE_COMMITS = 'DELETE FROM plant_commits WHERE position = ANY($1::int8[])'

/**
 * Removes changes from the feed that are older than `age`, or exceed `bytes` together with the newer ones, then deletes
 * them and all others that are no longer in the feed. A cursor expires before the first change after it is deleted.
 *
 * @param signal ends the work early
 */
export async function pruneChanges(
  connections: Pick<Connections, 'query' | 'unverifiedTransaction'>,
  { age, bytes }: Retention,
  signal: AbortSignal,
): Promise<void> {
  let more = true
  while (more && !signal.aborted) {
    const [found] = await connections.query<{ feedId: Buffer; oldest: bigint }>(FIND_OLDEST, [
      Math.round(age),
      bytes,
    ])
    more = found !== undefined
    if (found) {
      const { feedId, oldest } = found
      more = (await connections.query(SET_OLDEST, [oldest, feedId])).length > 0
    }
  }
  while (!signal.aborted && (await deleteSome(connections)));
}

/** Resolves to whether there may be more to delete. */
function deleteSome(connections: Pick<Connections, 'unverifiedTransaction'>): Promise<boolean> {
  return connections.unverifiedTransaction(async (run) => {
    const commits = await run<{ position: bigint; tx: string }>(TAKE)
    if (commits.length === 0) return false
    const deleted = await run(DELETE_CHANGES, [commits.map(({ tx }) => tx)])
    if (deleted.length === ROWS_MAX) return true
    await run(DELETE_COMMITS, [commits.map(({ position }) => position)])
    return commits.length === COMMITS_MAX
  })
}

const INTERVAL_MS = 10_000

/** The clock of the server dates the changes. */
const NOW = `SELECT ${NOW_MS} AS now`

export interface MaintenanceOptions {
  readonly connections: Connections
  readonly retention: Retention
  /** Brings the ledger up to date. */
  readonly update: () => Promise<unknown>
  readonly onProblem?: OnProblem | undefined
  readonly intervalMs?: number
  readonly signal: AbortSignal
}

/**
 * Keeps the ledger up to date and deletes old changes, until the signal. Every service runs this. Resolves once no
 * statement is in progress.
 */
export async function maintainChanges({
  connections,
  retention,
  update,
  onProblem,
  intervalMs = INTERVAL_MS,
  signal,
}: MaintenanceOptions): Promise<void> {
  const clock = new RetentionClock(retention.age, onProblem)
  const work = async () => {
    await update()
    const { now } = one(await connections.query<{ now: bigint }>(NOW))
    const age = retention.age + clock.grace(Number(now))
    await pruneChanges(connections, { ...retention, age }, signal)
  }
  while (!signal.aborted) {
    // The next run tries again, and readers of the feed report the failure.
    await work().catch(() => {})
    await setTimeout(intervalMs, undefined, { ref: false, signal }).catch(() => {})
  }
}
