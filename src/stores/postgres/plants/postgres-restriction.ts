import {
  beginsMirror,
  hasEffect,
  type Restriction,
  type RestrictionResult,
  type RestrictionStep,
  STEP_TEXT_MAX,
} from '../../../../service/restriction.ts'
import {
  beginsCopy,
  isSameRestriction,
  RESTRICTION_COLUMNS,
  type RestrictionRow,
  restrictionValues,
  toRestriction,
} from '../../shared/restriction-row.ts'
import type { Connections } from '../connection/connections.ts'
import type { Run } from '../connection/pooled-client.ts'
import { RESTRICTED } from '../connection/postgres-errors.ts'
import { alterTables, beginFeed } from '../feed/feed-start.ts'
import { limitLockWait, lockFeed } from '../feed/ledger.ts'
import { attemptLists } from './lists.ts'
import { insertingTransaction } from './plant-inserts.ts'

/** A statement of postgres-schema.ts. */
export const CREATE_RESTRICTION = `
  CREATE TABLE IF NOT EXISTS plant_restriction (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    source text,
    cursor text,
    copy_from bigint,
    consistent_at text
  )`

const COLUMNS = RESTRICTION_COLUMNS.join(', ')

const FIND = `SELECT ${COLUMNS} FROM plant_restriction`

/** Only one step at a time can have this lock, whether there is a restriction or not. The setting marks a step. */
const LOCK = `
  LOCK TABLE plant_restriction IN SHARE ROW EXCLUSIVE MODE;
  SET LOCAL plant_store.is_step = on;
  ${FIND}`

/**
 * Refuses all changes except those of steps. While the trigger is enabled, it must not depend on the row: a transaction
 * with an older snapshot would not see it. `ALWAYS` includes sessions that turn ordinary triggers off by
 * `session_replication_role`. A subscription of the server's logical replication passes.
 */
const ENABLE_BARRIER = `
  DO $do$ BEGIN
    CREATE OR REPLACE FUNCTION refuse_plant_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('plant_store.is_step', true) = 'on' THEN RETURN NULL; END IF;
      RAISE 'changes to plants are restricted' USING
        ERRCODE = '${RESTRICTED}', DETAIL = coalesce((SELECT source FROM plant_restriction), '');
    END $$;
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'plants'::regclass AND tgname = 'refuse_changes') THEN
      CREATE TRIGGER refuse_changes BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON plants
        EXECUTE FUNCTION refuse_plant_changes();
    END IF;
    ALTER TABLE plants ENABLE ALWAYS TRIGGER refuse_changes;
  END $do$`

/** Unlike dropping the trigger, this does not wait for reads. */
const DISABLE_BARRIER = 'ALTER TABLE plants DISABLE TRIGGER refuse_changes'

const BARRIER =
  'a freeze or mirror cannot begin or end while another transaction is changing plants'

const ANY_PLANT = 'SELECT id FROM plants LIMIT 1'

const SET = `
  INSERT INTO plant_restriction (${COLUMNS}) VALUES ($1, $2, $3, $4)
  ON CONFLICT (is_only) DO UPDATE SET (${COLUMNS}) = ROW($1, $2, $3, $4)`

/** Thrown to roll a step back. */
class StepRefused extends Error {
  readonly result: RestrictionResult

  constructor(result: RestrictionResult) {
    super(result)
    this.result = result
  }
}

/** See RestrictionStore.readRestriction. */
export async function readRestriction(run: Run): Promise<Restriction | undefined> {
  const [row] = await run<RestrictionRow>(FIND)
  return toRestriction(row)
}

/** See RestrictionStore.restrict. */
export async function restrict(
  connections: Pick<Connections, 'verified' | 'lockWaitMs'>,
  step: RestrictionStep,
): Promise<RestrictionResult> {
  const { lockWaitMs } = connections
  const { expected, next, changes } = step
  const make = async (run: Run): Promise<RestrictionResult> => {
    await limitLockWait(run, lockWaitMs)
    const [found] = await run<RestrictionRow>(LOCK)
    if (!isSameRestriction(expected, toRestriction(found))) {
      throw new StepRefused('unexpected')
    }
    if (beginsMirror(step) && found !== undefined) throw new StepRefused('not-new')
    // Locked before the plants, as when an obsolete feed is replaced.
    const feed = beginsCopy(next) ? await lockFeed(run, lockWaitMs) : undefined
    if (expected === undefined) await alterTables(run, ENABLE_BARRIER, BARRIER)
    if (next === undefined) await alterTables(run, DISABLE_BARRIER, BARRIER)
    if (beginsMirror(step) && (await run(ANY_PLANT)).length > 0) throw new StepRefused('not-empty')
    if (feed !== undefined) await beginFeed(run, feed)
    const [results = []] =
      changes === undefined
        ? []
        : await attemptLists(run, [{ changes, mode: 'each', textMax: STEP_TEXT_MAX }])
    // The only list is never postponed.
    if (typeof results === 'string') throw new StepRefused('too-large')
    if (!hasEffect(step, results)) throw new StepRefused('diverged')
    await run(SET, restrictionValues(next))
    return 'done'
  }
  try {
    return await connections.verified((client) => insertingTransaction(client, make))
  } catch (error) {
    if (error instanceof StepRefused) return error.result
    throw error
  }
}
