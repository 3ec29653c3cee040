/**
 * The keys of sorted indexes. Triggers mark the plants that change, because they cannot compute keys; `indexPlants` then
 * does. A plant can have several marks, which no statement changes, so changes do not wait for each other because of them.
 */
import {
  findUnfinished,
  readIndex,
  type SortIndex,
  sortKey,
  writeIndex,
} from '../../../../service/store/sort-index.ts'
import { KEYS_MAX } from '../../shared/page-limits.ts'
import { PLANT_COLUMNS, type PlantRow, RECORD_COLUMNS, type RecordRow } from '../../shared/rows.ts'
import type { Connections } from '../connection/connections.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { alterTables } from '../feed/feed-start.ts'
import { limitLockWait } from '../feed/ledger.ts'
import { TEXT } from './plant-columns.ts'

/** The statements of postgres-schema.ts that create the tables, and the function of the triggers. */
export const CREATE_SORT_KEYS = [
  `CREATE TABLE IF NOT EXISTS plant_sort_keys (
     id bigint NOT NULL,
     number int NOT NULL,
     key bytea NOT NULL,
     PRIMARY KEY (id, number)
   )`,
  'CREATE UNIQUE INDEX IF NOT EXISTS plant_sort_keys_in_order ON plant_sort_keys (number, key, id)',
  // Rows stay only for a moment, and every read in an order scans the table.
  `CREATE TABLE IF NOT EXISTS plants_without_keys (id bigint NOT NULL)
   WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  `DO $do$ BEGIN
     LOCK TABLE plants_without_keys IN EXCLUSIVE MODE;
     CREATE OR REPLACE FUNCTION mark_plants() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       CASE TG_OP
       WHEN 'INSERT' THEN INSERT INTO plants_without_keys SELECT id FROM new_plants;
       WHEN 'UPDATE' THEN
         INSERT INTO plants_without_keys SELECT id FROM new_plants UNION SELECT id FROM old_plants;
       WHEN 'DELETE' THEN INSERT INTO plants_without_keys SELECT id FROM old_plants;
       ELSE TRUNCATE plant_sort_keys;
       END CASE;
       RETURN NULL;
     END $$;
   END $do$`,
]

const TRIGGERS = ['mark_created', 'mark_changed', 'mark_removed', 'mark_truncated']
const alterTriggers = (verb: string) =>
  `ALTER TABLE plants ${TRIGGERS.map((name) => `${verb} TRIGGER ${name}`).join(', ')}`

/**
 * Begins to mark plants. A trigger that looked for indexes in a table could miss one, because a transaction can have an
 * older snapshot. Waits for transactions that have changed plants without marks.
 */
const BEGIN_MARKS = `
  DO $do$ BEGIN
    IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'plants'::regclass AND tgname = 'mark_created') THEN
      ${alterTriggers('ENABLE')};
      RETURN;
    END IF;
    CREATE TRIGGER mark_created AFTER INSERT ON plants
      REFERENCING NEW TABLE AS new_plants EXECUTE FUNCTION mark_plants();
    CREATE TRIGGER mark_changed AFTER UPDATE ON plants
      REFERENCING OLD TABLE AS old_plants NEW TABLE AS new_plants EXECUTE FUNCTION mark_plants();
    CREATE TRIGGER mark_removed AFTER DELETE ON plants
      REFERENCING OLD TABLE AS old_plants EXECUTE FUNCTION mark_plants();
    CREATE TRIGGER mark_truncated AFTER TRUNCATE ON plants EXECUTE FUNCTION mark_plants();
  END $do$`

const END_MARKS = alterTriggers('DISABLE')

/** All changes wait meanwhile. Short ones end in time; if others do not, the caller tries again. */
const ALTER_WAIT_MS = 100

const IN_USE = 'an index cannot begin or end while another transaction is changing plants'

const NEEDS_KEYS = `
  SELECT EXISTS (SELECT FROM plants_without_keys) OR EXISTS (
    SELECT FROM plant_store_records WHERE kind = 'sort-index' AND value::json ->> 'isComplete' = 'false'
  ) AS needed`

/** The lock lets one process at a time compute keys, so that none stores older ones. */
const LOCK_INDEXES = `
  SELECT ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = 'sort-index' ORDER BY key FOR UPDATE`

/** Nobody changes a row, so its place identifies it. */
const TAKE_MARKS = `
  DELETE FROM plants_without_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM plants_without_keys LIMIT $1))
  RETURNING id`

/** The plants with some ids, up to the one that reaches the limit on text. */
const FIND = `
  SELECT ${PLANT_COLUMNS}, is_last FROM (
    SELECT *, total - text AS before, total >= $2 AS is_last
    FROM (
      SELECT *, sum(text) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS total
      FROM (SELECT ${PLANT_COLUMNS}, ${TEXT} AS text FROM plants WHERE id = ANY ($1::int8[])) AS found
    ) AS summed
  ) AS measured
  WHERE before < $2 ORDER BY id`

const MARK_AGAIN = 'INSERT INTO plants_without_keys SELECT unnest($1::int8[])'

/** The next plants, up to the one that reaches the limit on text. */
export const FIND_NEXT = `
  SELECT ${PLANT_COLUMNS} FROM (
    SELECT *, sum(text) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) - text AS before
    FROM (
      SELECT ${PLANT_COLUMNS}, ${TEXT} AS text FROM plants WHERE $1::int8 IS NULL OR id > $1 ORDER BY id LIMIT $2
    ) AS found
  ) AS measured
  WHERE before < $3 ORDER BY id`

const FORGET = 'DELETE FROM plant_sort_keys WHERE id = ANY ($1::int8[])'

/** A plant that has changed has its key already when a new index reaches it. */
const ADD = `
  INSERT INTO plant_sort_keys (id, number, key) SELECT * FROM unnest($1::int8[], $2::int4[], $3::bytea[])
  ON CONFLICT DO NOTHING`

const CLEAR = `
  DELETE FROM plant_sort_keys WHERE (id, number) IN (
    SELECT id, number FROM plant_sort_keys WHERE number = $1 LIMIT $2
  ) RETURNING 1`

const CHANGE_RECORD =
  "UPDATE plant_store_records SET value = $2 WHERE kind = 'sort-index' AND key = $1"
const REMOVE_RECORD = "DELETE FROM plant_store_records WHERE kind = 'sort-index' AND key = $1"

type Transactions = Pick<Connections, 'query' | 'unverifiedTransaction' | 'lockWaitMs'>

/** See PlantStore.indexPlants. */
export async function indexPlants(connections: Transactions): Promise<boolean> {
  const { needed } = one(await connections.query<{ needed: boolean }>(NEEDS_KEYS))
  if (!needed) return false
  return connections.unverifiedTransaction(async (run) => {
    await limitLockWait(run, connections.lockWaitMs)
    const indexes = (await run<RecordRow>(LOCK_INDEXES)).map(readIndex)
    if (await completeChanged(run, indexes)) return true
    const index = findUnfinished(indexes)
    if (index === undefined) return false
    const isOnly = indexes.length === 1
    const next =
      index.clears === undefined ? await extend(run, index) : await clear(run, index, isOnly)
    const { name } = index.member
    if (next === undefined) await run(REMOVE_RECORD, [name])
    else await run(CHANGE_RECORD, [name, writeIndex(next)])
    return true
  })
}

/** Gives keys to plants that have changed. Returns whether there may be more. */
async function completeChanged(run: Run, indexes: readonly SortIndex[]): Promise<boolean> {
  const marks = await run<{ id: bigint }>(TAKE_MARKS, [KEYS_MAX.plants])
  if (marks.length === 0) return false
  const ids = [...new Set(marks.map(({ id }) => id))]
  const used = indexes.filter(({ clears }) => clears === undefined)
  // A TRUNCATE locks the plants first, and then the keys.
  const rows =
    used.length > 0 ? await run<PlantRow & { is_last: boolean }>(FIND, [ids, KEYS_MAX.text]) : []
  const last = rows.at(-1)
  const isLeft = (id: bigint) => last?.is_last === true && id > last.id
  const left = ids.filter(isLeft)
  await run(FORGET, [ids.filter((id) => !isLeft(id))])
  await add(run, used, rows)
  if (left.length > 0) await run(MARK_AGAIN, [left])
  return left.length > 0 || marks.length === KEYS_MAX.plants
}

/** Gives keys to the next plants of an index. */
async function extend(run: Run, index: SortIndex): Promise<SortIndex> {
  if (index.upTo === undefined) await alterPlants(run, BEGIN_MARKS)
  const values = [index.upTo, KEYS_MAX.plants, KEYS_MAX.text]
  const rows = await run<PlantRow>(FIND_NEXT, values)
  await add(run, [index], rows)
  const upTo = rows.at(-1)?.id
  return upTo === undefined ? { ...index, isComplete: true, upTo } : { ...index, upTo }
}

/** Removes some keys of an index. Returns undefined if the index is gone. */
async function clear(run: Run, index: SortIndex, isOnly: boolean): Promise<SortIndex | undefined> {
  const removed = await run(CLEAR, [index.number, KEYS_MAX.plants])
  if (removed.length > 0) return index
  if (index.clears === 'to-build') return { ...index, clears: undefined }
  if (isOnly) await alterPlants(run, END_MARKS)
  return undefined
}

async function alterPlants(run: Run, statement: string): Promise<void> {
  await limitLockWait(run, ALTER_WAIT_MS)
  await alterTables(run, statement, IN_USE)
}

async function add(
  run: Run,
  indexes: readonly SortIndex[],
  rows: readonly PlantRow[],
): Promise<void> {
  const keys = rows.flatMap((row) =>
    indexes.map(({ member, number }) => ({ id: row.id, number, key: sortKey(member, row) })),
  )
  if (keys.length === 0) return
  await run(ADD, [
    keys.map(({ id }) => id),
    keys.map(({ number }) => number),
    keys.map(({ key }) => key),
  ])
}
