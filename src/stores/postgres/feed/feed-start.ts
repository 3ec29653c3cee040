import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import type { Connections } from '../connection/connections.ts'
import type { Run } from '../connection/pooled-client.ts'
import { isLockTimeout } from '../connection/postgres-errors.ts'
import { BEGIN_FEED, LOCK_PLANTS } from './change-tables.ts'
import { appendCommits, type LockedFeed, lockFeed } from './ledger.ts'

type Transactions = Pick<Connections, 'unverifiedTransaction' | 'lockWaitMs'>

const BEGIN = 'the change feed cannot begin while another transaction is changing plants'

/**
 * Begins a new feed if the feed is obsolete. Cursors of the old feed expire. Resolves to whether this process has begun
 * the new feed.
 */
export function replaceObsoleteFeed(connections: Transactions): Promise<boolean> {
  return connections.unverifiedTransaction(async (run) => {
    const feed = await lockFeed(run, connections.lockWaitMs)
    if (!feed.isObsolete) return false
    await alterTables(run, LOCK_PLANTS, BEGIN)
    await beginFeed(run, feed)
    return true
  })
}

/**
 * Begins a new feed. The caller has locked the old one, and no other transaction is changing plants. The changes in the
 * old one can then be deleted.
 */
export async function beginFeed(run: Run, feed: LockedFeed): Promise<void> {
  // If it is from another server, transactions of this one can have the same ids.
  if (feed.isObsolete) await run('TRUNCATE plant_changes, plant_commits')
  else await appendCommits(run, feed)
  await run(BEGIN_FEED)
}

/**
 * Changes or locks tables, which waits for transactions that use the tables.
 *
 * @param reason why it cannot be done if the wait takes too long, for the operator
 * @throws StoreUnavailable with that reason
 */
export async function alterTables(run: Run, statement: string, reason: string): Promise<void> {
  try {
    await run(statement)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    throw new StoreUnavailable('busy', reason)
  }
}
