import type { Connections } from '../connection/connections.ts'
import { changeTriggers } from '../plants/lock-wait.ts'
import { BEGIN_LOG, DISABLE_TRIGGERS, ENABLE_TRIGGERS } from './change-tables.ts'
import { appendCommits, lockLog } from './ledger.ts'

/**
 * Begins a new log if the log is off, or belongs to the database from which this one was restored. Cursors of the old
 * log expire.
 */
export async function turnOn(
  connections: Pick<Connections, 'transaction'>,
  waitMs: number,
): Promise<void> {
  await connections.transaction(async (run) => {
    const { isOn, isForeign } = await lockLog(run, waitMs)
    if (isOn && !isForeign) return
    await changeTriggers(run, ENABLE_TRIGGERS)
    // Transactions of this server can have the same ids as those of the other one.
    if (isForeign) await run('TRUNCATE plant_changes, plant_commits')
    await run(BEGIN_LOG)
  })
}

/** Stops the log. The changes in it can be deleted from then on: all commits are in the ledger, before `oldest`. */
export async function turnOff(
  connections: Pick<Connections, 'transaction'>,
  waitMs: number,
): Promise<void> {
  await connections.transaction(async (run) => {
    const log = await lockLog(run, waitMs)
    if (!log.isOn) return
    await changeTriggers(run, DISABLE_TRIGGERS)
    await appendCommits(run, log)
    await run('UPDATE plant_change_log SET id = NULL, oldest = position + 1')
  })
}
