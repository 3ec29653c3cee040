import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { Connections } from '../connection/connections.ts'
import type { Run } from '../connection/pooled-client.ts'
import { isLockTimeout } from '../connection/postgres-errors.ts'
import { BEGIN_LOG, ENABLE_TRIGGERS } from './change-tables.ts'
import { appendCommits, type LockedLog, lockLog } from './ledger.ts'

type Transactions = Pick<Connections, 'unverifiedTransaction' | 'lockWaitMs'>

const BEGIN = 'the change log cannot begin'

/**
 * Begins a new log if the log is obsolete. Cursors of the old log expire. Resolves to whether this process has begun the
 * new log.
 */
export function replaceObsoleteLog(connections: Transactions): Promise<boolean> {
  return connections.unverifiedTransaction(async (run) => {
    const log = await lockLog(run, connections.lockWaitMs)
    if (!log.isObsolete) return false
    await changeTriggers(run, ENABLE_TRIGGERS, BEGIN)
    await beginLog(run, log)
    return true
  })
}

/**
 * Begins a new log. The caller has locked the old one, and no other transaction is changing plants. The changes in the
 * old one can then be deleted.
 */
export async function beginLog(run: Run, log: LockedLog): Promise<void> {
  // If it is from another server, transactions of this one can have the same ids.
  if (log.isObsolete) await run('TRUNCATE plant_changes, plant_commits')
  else await appendCommits(run, log)
  await run(BEGIN_LOG)
}

/**
 * Creates, enables or disables triggers on `plants`, which waits for transactions that change plants.
 *
 * @param what cannot be done if the wait takes too long, for the operator
 * @throws StoreUnavailable that names the cause if the wait takes too long
 */
export async function changeTriggers(run: Run, statement: string, what: string): Promise<void> {
  try {
    await run(statement)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    throw new StoreUnavailable('busy', `${what} while another transaction is changing plants`)
  }
}
