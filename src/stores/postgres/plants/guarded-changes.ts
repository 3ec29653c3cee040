import type { ListResult } from '../../../../service/store/plant-store.ts'
import type { Guard } from '../../../../service/store/record-store.ts'
import { type GuardedList, hasEffect } from '../../shared/plant-change.ts'
import type { Connections } from '../connection/connections.ts'
import { LOCK_STORE } from '../connection/locks.ts'
import { MARK, PERMIT, REFUSE, RESTRICT } from '../connection/permissions.ts'
import type { Run } from '../connection/pooled-client.ts'
import { alterTables, beginFeed } from '../feed/feed-start.ts'
import { limitLockWait, lockFeed } from '../feed/ledger.ts'
import { changeOne } from '../records/records.ts'
import { insertingTransaction } from './insert-statement.ts'
import { attemptLists } from './lists.ts'

/**
 * Refuses all changes except those with a guard. While the trigger is enabled, it must not depend on the row: a transaction
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

/** Thrown to roll changes back. */
class Refused extends Error {
  readonly result: ListResult<Guard>

  constructor(result: ListResult<Guard> & string) {
    super(result)
    this.result = result
  }
}

/** PlantStore.apply with a guard. */
export async function applyGuarded(
  connections: Pick<Connections, 'verified' | 'lockWaitMs'>,
  list: GuardedList,
): Promise<ListResult<Guard>> {
  const { lockWaitMs } = connections
  const { record, restricts, mustBeEmpty, renewsFeed } = list.mode
  const make = async (run: Run): Promise<ListResult<Guard>> => {
    await limitLockWait(run, lockWaitMs)
    // Only one list with a guard at a time can have this lock.
    await run(LOCK_STORE)
    await run(MARK)
    // First, so that it is decided before anything waits.
    if (!(await changeOne(run, record))) throw new Refused('unexpected')
    // Locked before the plants, as when an obsolete feed is replaced.
    const feed = renewsFeed ? await lockFeed(run, lockWaitMs) : undefined
    if (mustBeEmpty) await alterTables(run, LOCK_READS, IN_USE)
    if (restricts === 'begin') await alterTables(run, ENABLE_BARRIER, BARRIER)
    if (restricts === 'end') await alterTables(run, DISABLE_BARRIER, BARRIER)
    if (mustBeEmpty && (await run(ANY_PLANT)).length > 0) throw new Refused('not-empty')
    if (feed !== undefined) await beginFeed(run, feed)
    const [results = []] = list.changes.length === 0 ? [] : await attemptLists(run, [list])
    // The only list is never postponed.
    if (typeof results === 'string') throw new Refused('too-large')
    if (!hasEffect(list.mode, results)) throw new Refused('diverged')
    return results
  }
  try {
    return await connections.verified((client) => insertingTransaction(client, make))
  } catch (error) {
    if (error instanceof Refused) return error.result
    throw error
  }
}
