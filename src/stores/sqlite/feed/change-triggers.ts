/**
 * The change feed. Triggers write it, so it has the changes of every process.
 *
 * The position of a change is the sum of the sizes of all changes up to it, so that the size of the feed is the
 * difference between two positions. It is the primary key. A feed uses no position twice, because its last row is never
 * deleted.
 *
 * The first row of a new feed has the type `start`. It gives cursors a row to refer to while there are no changes. The
 * newest obsolete change becomes such a row for the same reason. The rows before the newest `start` are no longer in the
 * feed.
 *
 * `ends` is 1 if a transaction ends with the change. A trigger cannot know that, so it writes 0, and the writer marks the
 * last change of each transaction and of each list. It is null for changes that an earlier version has logged. SQLite
 * reads these values without the text before them.
 */
import type { Database } from 'better-sqlite3'
import type { Change } from '../../../../service/change-feed.ts'
import { FEED_ID_BYTES } from '../../shared/cursor.ts'

/** The types of changes by their number in the table. SQLite needs no space for the values 0 and 1. */
export const CHANGE_TYPES = ['created', 'changed', 'removed'] as const satisfies Change['type'][]

/** The number of the type `start`. */
export const START = CHANGE_TYPES.length

/** The approximate size of a change in the file, in addition to its text. */
export const CHANGE_OVERHEAD_BYTES = 28

const NOW = `CAST(round(unixepoch('subsec') * 1000) AS INTEGER)`

const SUM = `ifnull((SELECT max(position) FROM changes), 0) + ${CHANGE_OVERHEAD_BYTES}`

function toNumber(type: Change['type']): number {
  return CHANGE_TYPES.indexOf(type)
}

export const CREATE_CHANGE_TABLES = `
  CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    id INTEGER NOT NULL,
    name TEXT,
    tag TEXT
  ) STRICT;
  CREATE TABLE change_log (id BLOB NOT NULL) STRICT;`

/** The columns of a plant, except its id and its name, which is never null. */
type Columns = readonly string[]

/** Those that triggers of the current schema version log. */
const COLUMNS: Columns = ['tag', 'fields']

/** The triggers by name. */
function triggersFor(columns: Columns, hasEnds = true): Readonly<Record<string, string>> {
  const [ends, unmarked] = hasEnds ? [', ends', ', 0'] : ['', '']
  const strings = ['name', ...columns]
  const isDifferent = strings.map((each) => `new.${each} IS NOT old.${each}`).join(' OR ')
  const sizes = columns.map((column) => `ifnull(octet_length(new.${column}), 0)`)
  const position = [SUM, 'octet_length(new.name)', ...sizes].join(' + ')
  const log = (type: Change['type']) => `
      INSERT INTO changes (position, at, type, id, ${strings.join(', ')}${ends})
      VALUES (${position}, ${NOW}, ${toNumber(type)}, new.id, ${strings.map((each) => `new.${each}`).join(', ')}${unmarked});`
  return {
    log_created: `
    AFTER INSERT ON plants BEGIN${log('created')}
    END`,
    log_changed: `
    AFTER UPDATE ON plants WHEN ${isDifferent} BEGIN${log('changed')}
    END`,
    log_removed: `
    AFTER DELETE ON plants BEGIN
      INSERT INTO changes (position, at, type, id${ends})
      VALUES (${SUM}, ${NOW}, ${toNumber('removed')}, old.id${unmarked});
    END`,
  }
}

function createTriggers(...version: Parameters<typeof triggersFor>): string {
  return Object.entries(triggersFor(...version))
    .map(([name, sql]) => `CREATE TRIGGER ${name} ${sql.trim()};`)
    .join('\n')
}

/** Begins an empty feed with a new id, so that cursors of an earlier feed are not valid in it. */
export function beginFeed(columns = COLUMNS, hasEnds = true): string {
  return `
  ${createTriggers(columns, hasEnds)}
  INSERT INTO change_log (id) VALUES (randomblob(${FEED_ID_BYTES}));
  INSERT INTO changes (position, at, type, id) VALUES (0, ${NOW}, ${START}, 0);`
}

/** Makes a feed that is on log other columns. It continues, so its cursors stay valid. */
export function extendFeed(db: Database, ...version: Parameters<typeof triggersFor>): void {
  if (hasFeed(db)) db.exec(`${DROP_TRIGGERS}\n${createTriggers(...version)}`)
}

/** Statements that prepare a feed for marks. All earlier transactions have ended. The index finds the start. */
export const ADD_ENDS = `
  ALTER TABLE changes ADD COLUMN ends INTEGER;
  UPDATE changes SET ends = 1 WHERE position = (SELECT max(position) FROM changes);
  CREATE INDEX changes_start ON changes (position) WHERE type = ${START};`

/** Marks the end of a transaction, or of a list in it, if its last change has no mark. */
export const MARK_END =
  'UPDATE changes SET ends = 1 WHERE position = (SELECT max(position) FROM changes) AND ends = 0'

/** Gives the feed a new id, so that cursors it has issued are no longer valid. */
export const RENEW_FEED = `UPDATE change_log SET id = randomblob(${FEED_ID_BYTES})`

/** Makes a new database comparable with one in which the feed was turned off, as `--keep-changes 0` once did. */
export const DROP_TRIGGERS = Object.keys(triggersFor(COLUMNS))
  .map((name) => `DROP TRIGGER ${name};`)
  .join('\n')

/** Begins the feed of a database in which it was turned off. Returns whether it was. */
export function beginMissingFeed(db: Database): boolean {
  // Without a lock: the feed is usually there, and another process may hold the lock.
  if (hasFeed(db)) return false
  const run = db.transaction(() => {
    if (hasFeed(db)) return false
    db.exec(beginFeed())
    return true
  })
  return run.immediate()
}

/** Whether the feed is on. */
export function hasFeed(db: Database): boolean {
  return db.prepare('SELECT id FROM change_log').get() !== undefined
}
