import Sqlite from 'better-sqlite3'

/** The exact schema of version 1, which existing files have. */
const VERSION_1 = `
  CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
  CREATE TABLE tokens (
    selector BLOB PRIMARY KEY,
    digest BLOB NOT NULL,
    name TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = 0x504c4e54;
  PRAGMA user_version = 1;`

/** Creates a database of version 1 and runs statements on it. */
export function makeVersion1(file: string, statements = ''): void {
  const db = new Sqlite(file)
  db.pragma('journal_mode = WAL')
  db.exec(VERSION_1)
  db.exec(statements)
  db.close()
}
