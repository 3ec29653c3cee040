/**
 * Functions that refuse to use the plants of a restricted database, in the snapshot of the statement that calls them.
 * Without a restriction they are constant, and the planner removes the calls: reading the restriction would take a third
 * of the time of a small read. The transaction that begins a restriction replaces them.
 */
import type { Connections } from './connections.ts'
import type { Run } from './pooled-client.ts'
import { INCOMPLETE, RESTRICTED } from './postgres-errors.ts'

/** A condition for reads of plants and changes. */
export const CAN_READ = 'can_read_plants()'

/** A condition for reads that decide what to change. If that is nothing, no trigger refuses it. */
export const CAN_CHANGE = 'can_change_plants()'

/** Permits everything in this transaction. */
export const MARK = 'SET LOCAL plant_store.is_step = on'

const IS_MARKED = "current_setting('plant_store.is_step', true) IS NOT DISTINCT FROM 'on'"
const RESTRICTION = "(SELECT value::json FROM plant_store_records WHERE kind = 'restriction')"

/** The function of the trigger. Its detail is the source of a mirror. */
export const REFUSE = `
    CREATE OR REPLACE FUNCTION refuse_plant_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM can_change_plants();
      RETURN NULL;
    END $$`

function define(call: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${call} RETURNS boolean STABLE ${body}`
}

/** Changes are refused whatever the row says: a transaction with an older snapshot would not see it. */
export const RESTRICT = [
  define(
    CAN_CHANGE,
    `LANGUAGE plpgsql AS $$
    BEGIN
      IF ${IS_MARKED} THEN RETURN true; END IF;
      RAISE 'changes to plants are restricted' USING
        ERRCODE = '${RESTRICTED}', DETAIL = coalesce(${RESTRICTION} ->> 'source', '');
    END $$`,
  ),
  define(
    CAN_READ,
    `LANGUAGE plpgsql AS $$
    DECLARE
      mirror json := ${RESTRICTION};
    BEGIN
      IF coalesce(mirror ->> 'copyFrom', mirror ->> 'consistentAt') IS NULL OR ${IS_MARKED} THEN RETURN true; END IF;
      RAISE 'the plants are incomplete' USING ERRCODE = '${INCOMPLETE}', DETAIL = mirror ->> 'source';
    END $$`,
  ),
].join(';\n')

export const PERMIT = [CAN_CHANGE, CAN_READ]
  .map((call) => define(call, "LANGUAGE sql AS 'SELECT true'"))
  .join(';\n')

/** Creates the functions. The lock keeps restrictions from beginning and ending. */
export const CREATE_PERMISSIONS = `
  DO $do$ BEGIN
    LOCK TABLE plant_store_records IN EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM plant_store_records WHERE kind = 'restriction' AND value <> '"ended"') THEN
      ${RESTRICT};
    ELSE
      ${PERMIT};
    END IF;
  END $do$`

/** Runs statements that read plants. With `readsIncomplete`, those of an incomplete mirror too. */
export function plantReads(connections: Connections, readsIncomplete = false): Run {
  if (!readsIncomplete) return (text, values) => connections.query(text, values)
  return (text, values) =>
    connections.unverifiedTransaction(async (run) => {
      await run(MARK)
      return run(text, values)
    })
}
