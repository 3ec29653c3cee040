/** What `--keep-changes 0` did, when the feed could be turned off. */
export const TURN_OFF = `
  DROP TRIGGER log_created;
  DROP TRIGGER log_changed;
  DROP TRIGGER log_removed;
  DELETE FROM change_log;
  DELETE FROM changes;`
