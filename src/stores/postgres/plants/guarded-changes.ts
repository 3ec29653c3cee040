import {
  type GuardedChange,
  type GuardedResult,
  hasEffect,
} from '../../../../service/record-store.ts'
import type { Connections } from '../connection/connections.ts'
import { LOCK_STORE } from '../connection/locks.ts'
import { MARK, PERMIT, REFUSE, RESTRICT } from '../connection/permissions.ts'
import type { Run } from '../connection/pooled-client.ts'
import { alterTables, beginFeed } from '../feed/feed-start.ts'
import { limitLockWait, lockFeed } from '../feed/ledger.ts'
import { changeOne } from '../records/records.ts'
import { attemptLists } from './lists.ts'
import { insertingTransaction } from './plant-inserts.ts'

/**
 * Refuses all changes except guarded ones. While the trigger is enabled, it must not depend on the row: a transaction
 * with an older snapshot would not see it. `ALWAYS` includes sessions that turn ordinary triggers off by
 * `session_replication_role`. A subscription of the server's logical replication passes.
 */
const ENABLE_BARRIER = `
  DO $do$ BEGIN
    ${RESTRICT};
    ${REFUSE};
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'plants'::regclass AND tgname = 'refuse_changes') THEN
      CREATE TRIGGER refuse_changes BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON plants
        EXECUTE FUNCTION refuse_plant_changes();
    END IF;
    ALTER TABLE plants ENABLE ALWAYS TRIGGER refuse_changes;
  END $do$`

/** Unlike dropping the trigger, this does not wait for reads. */
const DISABLE_BARRIER = `
  DO $do$ BEGIN
    ${PERMIT};
    ALTER TABLE plants DISABLE TRIGGER refuse_changes;
  END $do$`

/**
 * Waits for reads that have begun without CAN_READ, and makes others wait for the replaced function. Otherwise one could
 * be so slow that it sees the first plants of the copy.
 */
const LOCK_READS = 'LOCK TABLE plants IN ACCESS EXCLUSIVE MODE'

const IN_USE = 'a mirror cannot begin while another transaction is using plants'

const BARRIER =
  'a freeze or mirror cannot begin or end while another transaction is changing plants'

const ANY_PLANT = 'SELECT id FROM plants LIMIT 1'

/** Thrown to roll a change back. */
class Refused extends Error {
  readonly result: GuardedResult

  constructor(result: GuardedResult) {
    super(result)
    this.result = result
  }
}

/** See GuardedStore.changeGuarded. */
export async function changeGuarded(
  connections: Pick<Connections, 'verified' | 'lockWaitMs'>,
  change: GuardedChange,
): Promise<GuardedResult> {
  const { lockWaitMs } = connections
  const { record, changes, textMax, guard } = change
  const make = async (run: Run): Promise<GuardedResult> => {
    await limitLockWait(run, lockWaitMs)
    // Only one guarded change at a time can have this lock.
    await run(LOCK_STORE)
    await run(MARK)
    // First, so that it is decided before anything waits.
    if (!(await changeOne(run, record))) throw new Refused('unexpected')
    // Locked before the plants, as when an obsolete feed is replaced.
    const feed = change.renewsFeed ? await lockFeed(run, lockWaitMs) : undefined
    if (change.mustBeEmpty) await alterTables(run, LOCK_READS, IN_USE)
    if (guard === 'begin') await alterTables(run, ENABLE_BARRIER, BARRIER)
    if (guard === 'end') await alterTables(run, DISABLE_BARRIER, BARRIER)
    if (change.mustBeEmpty && (await run(ANY_PLANT)).length > 0) throw new Refused('not-empty')
    if (feed !== undefined) await beginFeed(run, feed)
    const [results = []] =
      changes.length === 0 ? [] : await attemptLists(run, [{ changes, mode: 'each', textMax }])
    // The only list is never postponed.
    if (typeof results === 'string') throw new Refused('too-large')
    if (!hasEffect(change, results)) throw new Refused('diverged')
    return 'done'
  }
  try {
    return await connections.verified((client) => insertingTransaction(client, make))
  } catch (error) {
    if (error instanceof Refused) return error.result
    throw error
  }
}
