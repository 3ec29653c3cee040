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
 * last change of each transaction and of each list. It is null for changes that were logged before schema version 7.
 */
import type { Change } from '../../../../service/store/change-feed.ts'
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

/** The columns of a plant, except its id and its name, which is never null. */
const COLUMNS = ['tag', 'fields']

/** @param hasEnds whether the feed has the column `ends` */
function createTriggers(hasEnds: boolean): string {
  const [ends, unmarked] = hasEnds ? [', ends', ', 0'] : ['', '']
  const strings = ['name', ...COLUMNS]
  const isDifferent = strings.map((each) => `new.${each} IS NOT old.${each}`).join(' OR ')
  const sizes = COLUMNS.map((column) => `ifnull(octet_length(new.${column}), 0)`)
  const position = [SUM, 'octet_length(new.name)', ...sizes].join(' + ')
  const log = (type: Change['type']) => `
      INSERT INTO changes (position, at, type, id, ${strings.join(', ')}${ends})
      VALUES (${position}, ${NOW}, ${toNumber(type)}, new.id, ${strings.map((each) => `new.${each}`).join(', ')}${unmarked});`
  return `
  CREATE TRIGGER log_created AFTER INSERT ON plants BEGIN${log('created')}
    END;
  CREATE TRIGGER log_changed AFTER UPDATE ON plants WHEN ${isDifferent} BEGIN${log('changed')}
    END;
  CREATE TRIGGER log_removed AFTER DELETE ON plants BEGIN
      INSERT INTO changes (position, at, type, id${ends})
      VALUES (${SUM}, ${NOW}, ${toNumber('removed')}, old.id${unmarked});
    END;`
}

/** Begins the feed of a new database. The line break before `fields` matters, because schemas are compared as text. */
export const CREATE_FEED = `
  CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    id INTEGER NOT NULL,
    name TEXT,
    tag TEXT
  , fields TEXT) STRICT;
  CREATE TABLE change_log (id BLOB NOT NULL) STRICT;
  ${createTriggers(false)}
  INSERT INTO change_log (id) VALUES (randomblob(${FEED_ID_BYTES}));
  INSERT INTO changes (position, at, type, id) VALUES (0, ${NOW}, ${START}, 0);`

/** Statements that prepare a feed for marks. All earlier transactions have ended. The index finds the start. */
export const ADD_ENDS = `
  ALTER TABLE changes ADD COLUMN ends INTEGER;
  UPDATE changes SET ends = 1 WHERE position = (SELECT max(position) FROM changes);
  CREATE INDEX changes_start ON changes (position) WHERE type = ${START};
  DROP TRIGGER log_created;
  DROP TRIGGER log_changed;
  DROP TRIGGER log_removed;
  ${createTriggers(true)}`

/** Marks the end of a transaction, or of a list in it, if its last change has no mark. */
export const MARK_END =
  'UPDATE changes SET ends = 1 WHERE position = (SELECT max(position) FROM changes) AND ends = 0'

/** Gives the feed a new id, so that cursors it has issued are no longer valid. */
export const RENEW_FEED = `UPDATE change_log SET id = randomblob(${FEED_ID_BYTES})`

/** Removes all plants, and begins a new feed after the last position. */
export const RESET = `
  DELETE FROM plants;
  DELETE FROM plant_sort_keys;
  DELETE FROM plants_without_keys;
  DELETE FROM changes WHERE position < (SELECT max(position) FROM changes);
  UPDATE changes SET type = ${START}, id = 0, name = NULL, tag = NULL, fields = NULL, ends = 1;
  ${RENEW_FEED}`
