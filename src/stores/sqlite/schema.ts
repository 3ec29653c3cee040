import type { Database } from 'better-sqlite3'

/** Marks a file as ours (SQLite's `application_id`): "PLNT". */
const APPLICATION_ID = 0x504c4e54

/** The statements that lead from each version of the schema to the next one, from nothing to 1 first. */
const MIGRATIONS = [
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;
   CREATE TABLE tokens (
     selector BLOB PRIMARY KEY,
     digest BLOB NOT NULL,
     name TEXT NOT NULL UNIQUE,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     last_used_at INTEGER
   ) STRICT, WITHOUT ROWID;
   PRAGMA application_id = ${APPLICATION_ID};`,
  // Behind the tag SQLite has the id in every entry: the plants of a tag come by id, from any one on.
  'CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;',
]

/** The version of the schema that this program reads and writes (SQLite's `user_version`). */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Why a database cannot be used; if there is no reason it can. */
export function refuseForeign(db: Database): string | undefined {
  // In one transaction, as another process may be making the database of an empty file just now.
  const look = db.transaction(() => ({
    id: db.pragma('application_id', { simple: true }),
    objects: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get(),
    version: versionOf(db),
  }))
  const { id, objects, version } = look()
  if (id !== APPLICATION_ID && (id !== 0 || objects !== 0)) {
    return 'it is the database of another program'
  }
  if (version <= SCHEMA_VERSION) return undefined
  return `its schema has version ${version}, this program knows up to ${SCHEMA_VERSION}; use a newer one`
}

/** Brings a database to a version, by default this program's, wholly or not at all. */
export function migrate(db: Database, version = SCHEMA_VERSION): void {
  // Nothing to do is done without a lock: another process may hold it, and we only want to read.
  if (versionOf(db) === version) return
  const run = db.transaction(() => {
    for (const statements of MIGRATIONS.slice(versionOf(db), version)) db.exec(statements)
    // A program of a newer version may have been here since we looked; its number must stay.
    db.pragma(`user_version = ${Math.max(version, versionOf(db))}`)
  })
  run.immediate()
}

/** The version of the schema that a database has; 0 while it is empty. */
export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number
}
