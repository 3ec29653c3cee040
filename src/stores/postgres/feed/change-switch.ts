import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { Connections } from '../connection/connections.ts'
import { isLockTimeout } from '../connection/postgres-errors.ts'
import type { Run } from '../connection/session.ts'
import { BEGIN_LOG, DISABLE_TRIGGERS, ENABLE_TRIGGERS } from './change-tables.ts'
import { appendCommits, type LockedLog, lockLog } from './ledger.ts'

type Transactions = Pick<Connections, 'unverifiedTransaction' | 'lockWaitMs'>

const SWITCH = 'the change feed cannot be turned on or off'

/**
 * Begins a new log if the log is off, or belongs to the database from which this one was restored. Cursors of the old
 * log expire.
 */
export async function turnOn(connections: Transactions): Promise<void> {
  await connections.unverifiedTransaction(async (run) => {
    const log = await lockLog(run, connections.lockWaitMs)
    if (log.isOn && !log.isForeign) return
    await changeTriggers(run, ENABLE_TRIGGERS, SWITCH)
    await beginLog(run, log)
  })
}

/**
 * Begins a new log. The caller has locked the old one, and no other transaction is changing plants. The changes in the
 * old one can then be deleted.
 */
export async function beginLog(run: Run, log: LockedLog): Promise<void> {
  // Transactions of this server can have the same ids as those of the other one.
  if (log.isForeign) await run('TRUNCATE plant_changes, plant_commits')
  else if (log.isOn) await appendCommits(run, log)
  await run(BEGIN_LOG)
}

/** Stops the log. The changes in it can be deleted from then on: all commits are in the ledger, before `oldest`. */
export async function turnOff(connections: Transactions): Promise<void> {
  await connections.unverifiedTransaction(async (run) => {
    const log = await lockLog(run, connections.lockWaitMs)
    if (!log.isOn) return
    await changeTriggers(run, DISABLE_TRIGGERS, SWITCH)
    await appendCommits(run, log)
    await run('UPDATE plant_change_log SET id = NULL, oldest = position + 1')
  })
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
