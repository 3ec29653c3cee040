/**
 * The tables of the change feed, and the triggers on `plants` that write it. A row has the changes of one statement in
 * arrays. See README.md, "The change feed".
 */
import type { Change } from '../../../../service/store/change-feed.ts'

/** The types of changes by their letter in the table. */
export const CHANGE_TYPES: Readonly<Record<string, Change['type']>> = {
  c: 'created',
  u: 'changed',
  r: 'removed',
}

/** Waits until transactions that change plants have ended, but not for reads. */
export const LOCK_PLANTS = 'LOCK TABLE plants IN SHARE ROW EXCLUSIVE MODE'

/** The time by the server's clock, in milliseconds since 1970. The replicas' own clocks can differ. */
export const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/**
 * Identifies the database among all others, so that one restored from a dump is recognized: the ids of its server's
 * transactions have no relation to those in the feed.
 */
export const DATABASE_IDENTITY = `(
  SELECT system_identifier || '/' || oid FROM pg_control_system(), pg_database
  WHERE datname = current_database())`

/**
 * Begins an empty feed with a new id, so that cursors of an earlier feed are not valid in it. Positions are never used
 * twice. The feed begins with a ledger row without changes, to which cursors can refer while there are none.
 */
export const BEGIN_FEED = `
  WITH feed AS (
    UPDATE plant_change_log
    SET id = decode(left(md5(gen_random_uuid()::text), 16), 'hex'), position = position + 1, oldest = position + 1,
        seen = pg_current_snapshot(), database = ${DATABASE_IDENTITY}
    RETURNING position, bytes
  )
  INSERT INTO plant_commits (position, tx, sequence, at, bytes)
  SELECT position, pg_current_xact_id(), 0, ${NOW_MS}, bytes FROM feed`

/** The size of a row without its first change is at most this. */
const ROW_SIZE = 16_384

/** The size that each change counts in addition to its text, in bytes. */
const CHANGE_SIZE = 100

/** The length of the text in some columns, in bytes. PostgreSQL stores it with the row, so this does not read large text. */
export function textLength(columns: readonly string[]): string {
  return columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
}

/** A column of the table `plants` that the feed logs. */
interface LoggedColumn {
  readonly column: string
  /** The column of the table `plant_changes`. */
  readonly array: string
  /** The value of that column. */
  readonly value: string
}

const LOGGED: readonly LoggedColumn[] = [
  { column: 'name', array: 'names', value: 'array_agg(name)' },
  { column: 'tag', array: 'tags', value: 'array_agg(tag)' },
  {
    column: 'fields',
    array: 'fields',
    value: 'CASE WHEN count(fields) > 0 THEN array_agg(fields) END',
  },
]
const COLUMNS = LOGGED.map(({ column }) => column)

/**
 * Each row has smaller numbers than the next one. Dividing the changes would double the time for a few, so the first
 * statement inserts them if they fit into one row. It does not read more of them than could fit.
 */
function buildInsert(changes: string): string {
  const text = textLength(COLUMNS)
  const size = `sum(${CHANGE_SIZE} + ${text})`
  const numbered = `
        SELECT nextval('plant_changes_sequence_seq') AS sequence, *
        FROM (${changes}) AS changes (type, id, ${COLUMNS.join(', ')})`
  const insert = `
      INSERT INTO plant_changes (sequence, sequences, types, ids, ${LOGGED.map(({ array }) => array).join(', ')}, text)
      SELECT max(sequence), array_agg(sequence), array_agg(type), array_agg(id), ${LOGGED.map(({ value }) => value).join(', ')},
             sum(${text})`
  return `${insert}
      FROM (${numbered} LIMIT ${Math.floor(ROW_SIZE / CHANGE_SIZE) + 1}) AS numbered HAVING ${size} <= ${ROW_SIZE};
      IF NOT FOUND THEN ${insert}
      FROM (
        SELECT *, ${size} OVER (ORDER BY sequence ROWS UNBOUNDED PRECEDING) / ${ROW_SIZE} AS row
        FROM (${numbered}) AS numbered
      ) AS divided
      GROUP BY row ORDER BY row;
      END IF`
}

/**
 * The function of the triggers. It compares old and new rows, so that updates that change nothing are not in the feed.
 * The join is full because SQL can also change ids, which the store never does.
 */
function buildFunction(): string {
  const of = (row: string) => COLUMNS.map((column) => `${row}.${column}`).join(', ')
  const created = `SELECT 'c'::"char", id, ${COLUMNS.join(', ')} FROM new_plants`
  const removed = (plants: string) =>
    `SELECT 'r'::"char", id, ${COLUMNS.map(() => 'NULL::text').join(', ')} FROM ${plants}`
  const changed = `
            SELECT CASE WHEN was.id IS NULL THEN 'c' WHEN became.id IS NULL THEN 'r' ELSE 'u' END::"char",
                   id, ${of('became')}
            FROM old_plants AS was FULL JOIN new_plants AS became USING (id)
            WHERE (was.id, ${of('was')}) IS DISTINCT FROM (became.id, ${of('became')})`
  return `
  FUNCTION log_plant_changes() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    CASE TG_OP
    WHEN 'INSERT' THEN ${buildInsert(created)};
    WHEN 'DELETE' THEN ${buildInsert(removed('old_plants'))};
    WHEN 'UPDATE' THEN ${buildInsert(changed)};
    ELSE ${buildInsert(removed('plants'))};
    END CASE;
    RETURN NULL;
  END $$`
}

/** The lock lets one replica create the triggers, and the others find them. */
const CREATE_TRIGGERS = `
  DO $do$ BEGIN
    LOCK TABLE plant_change_log IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM plant_change_log) THEN RETURN; END IF;
    CREATE ${buildFunction()};
    CREATE TRIGGER log_created AFTER INSERT ON plants
      REFERENCING NEW TABLE AS new_plants EXECUTE FUNCTION log_plant_changes();
    CREATE TRIGGER log_changed AFTER UPDATE ON plants
      REFERENCING OLD TABLE AS old_plants NEW TABLE AS new_plants EXECUTE FUNCTION log_plant_changes();
    CREATE TRIGGER log_removed AFTER DELETE ON plants
      REFERENCING OLD TABLE AS old_plants EXECUTE FUNCTION log_plant_changes();
    CREATE TRIGGER log_truncated BEFORE TRUNCATE ON plants EXECUTE FUNCTION log_plant_changes();
    INSERT INTO plant_change_log DEFAULT VALUES;
    ${BEGIN_FEED};
  END $do$`

/**
 * The statements of postgres-schema.ts that create the feed. It begins empty.
 *
 * - `sequence` is the greatest one of the changes in a row, or of a commit.
 * - `text` is the length of all text in a row, in bytes.
 * - `fields` is null if no plant in a row has own fields.
 * - `at` is in milliseconds since 1970. For a commit, it is the time at which it got its position.
 * - `bytes` is the approximate size of all changes up to that commit.
 * - Commits before `oldest` are no longer in the feed.
 * - All transactions that are visible in the snapshot `seen` are in the ledger.
 */
export const CREATE_FEED = [
  // Compressing rows that fit into a page would take longer than writing them. The sequence is named, because if two
  // replicas create the table at once, PostgreSQL could give it another name.
  `CREATE TABLE IF NOT EXISTS plant_changes (
     tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
     sequence bigint GENERATED BY DEFAULT AS IDENTITY (SEQUENCE NAME plant_changes_sequence_seq),
     at timestamptz NOT NULL DEFAULT clock_timestamp(),
     sequences bigint[] NOT NULL,
     types "char"[] NOT NULL,
     ids bigint[] NOT NULL,
     names text[] NOT NULL,
     tags text[] NOT NULL,
     text bigint NOT NULL,
     fields text[],
     PRIMARY KEY (tx, sequence)
   ) WITH (toast_tuple_target = 8160)`,
  `CREATE TABLE IF NOT EXISTS plant_commits (
     position bigint PRIMARY KEY,
     tx xid8 NOT NULL,
     sequence bigint NOT NULL,
     at bigint NOT NULL,
     bytes bigint NOT NULL
   )`,
  `CREATE TABLE IF NOT EXISTS plant_change_log (
     is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
     id bytea,
     position bigint NOT NULL DEFAULT 0,
     oldest bigint NOT NULL DEFAULT 0,
     bytes bigint NOT NULL DEFAULT 0,
     seen pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
     database text NOT NULL DEFAULT ''
   )`,
  CREATE_TRIGGERS,
]
