import type { Database } from 'better-sqlite3'
import { ADD_ENDS, CREATE_FEED } from '../feed/change-triggers.ts'
import { replaceBarrier } from './restriction-barrier.ts'

/** Identifies our databases (SQLite's `application_id`): "PLNT". */
export const APPLICATION_ID = 0x504c4e54

/** Makes records of tokens, settings, webhooks and the restriction. `json_patch` omits members without a value. */
const CREATE_RECORDS = `
  CREATE TABLE plant_store_records (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    alias TEXT,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX plant_store_records_by_alias ON plant_store_records (kind, alias)
    WHERE alias IS NOT NULL;
  INSERT INTO plant_store_records (kind, key, alias, value)
    SELECT 'token', name, lower(hex(selector)), json_patch('{}', json_object(
      'digest', lower(hex(digest)),
      'scopes', json(iif(scopes = '', '[]', '["' || replace(scopes, ',', '","') || '"]')),
      'createdAt', created_at, 'expiresAt', expires_at, 'lastUsedAt', last_used_at))
    FROM tokens;
  INSERT INTO plant_store_records (kind, key, value)
    SELECT 'setting', name, value FROM plant_store_settings;
  INSERT INTO plant_store_records (kind, key, value)
    SELECT 'webhook', name, json_patch('{}', json_object(
      'url', url, 'events', json('["' || replace(events, ',', '","') || '"]'), 'secret', secret,
      'previousSecret', previous_secret, 'previousUntil', previous_until, 'createdAt', created_at))
    FROM plant_webhooks;
  INSERT INTO plant_store_records (kind, key, value)
    SELECT 'webhook-progress', name, json_patch('{}', json_object(
      'cursor', cursor, 'attempts', attempts, 'failingSince', failing_since,
      'nextAttemptAt', next_attempt_at, 'pausedAt', paused_at, 'lastSuccessAt', last_success_at,
      'lastFailureAt', last_failure_at, 'lastFailure', last_failure))
    FROM plant_webhooks;
  INSERT INTO plant_store_records (kind, key, value)
    SELECT 'restriction', 'restriction', CASE
      WHEN source IS NOT NULL THEN json_patch('{}', json_object('source', source, 'cursor', cursor,
        'copyFrom', CAST(copy_from AS TEXT), 'consistentAt', consistent_at))
      WHEN cursor IS NULL THEN '"frozen"' ELSE '"ended"' END
    FROM plant_restriction;
  DROP TABLE tokens;
  DROP TABLE plant_store_settings;
  DROP TABLE plant_webhooks;
  DROP TABLE plant_restriction;`

/**
 * Keys of plants for SortIndex. A trigger cannot compute them, so it marks the plants whose keys the writer must. The
 * statement that fires it would override an `INSERT OR IGNORE`, but not an upsert.
 */
const CREATE_SORT_KEYS = `
  CREATE TABLE plant_sort_keys (
    id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (id, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX plant_sort_keys_in_order ON plant_sort_keys (number, key, id);
  CREATE TABLE plants_without_keys (id INTEGER PRIMARY KEY) STRICT;
  ${[
    ['created', 'INSERT', '(new.id)'],
    ['changed', 'UPDATE', '(old.id), (new.id)'],
    ['removed', 'DELETE', '(old.id)'],
  ]
    .map(
      ([name, event, ids]) => `
  CREATE TRIGGER mark_${name} AFTER ${event} ON plants
    WHEN EXISTS (SELECT 1 FROM plant_store_records WHERE kind = 'sort-index') BEGIN
      INSERT INTO plants_without_keys (id) VALUES ${ids} ON CONFLICT DO NOTHING;
    END;`,
    )
    .join('')}`

/** Create the first schema version in an empty database, then upgrade each version to the next. */
export const MIGRATIONS: readonly (string | ((db: Database) => void))[] = [
  `CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, fields TEXT) STRICT;
   CREATE TABLE tokens (
     selector BLOB PRIMARY KEY,
     digest BLOB NOT NULL,
     name TEXT NOT NULL UNIQUE,
     scopes TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     last_used_at INTEGER
   ) STRICT, WITHOUT ROWID;
   PRAGMA application_id = ${APPLICATION_ID};
   -- Every index entry ends with the rowid, which is the id, so the plants of a tag are sorted by id.
   CREATE INDEX plants_by_tag ON plants (tag) WHERE tag IS NOT NULL;
   ${CREATE_FEED}
   CREATE TABLE plant_webhooks (
     name TEXT PRIMARY KEY,
     url TEXT NOT NULL,
     events TEXT NOT NULL,
     secret TEXT NOT NULL,
     previous_secret TEXT,
     previous_until INTEGER,
     created_at INTEGER NOT NULL,
     cursor TEXT,
     attempts INTEGER NOT NULL DEFAULT 0,
     failing_since INTEGER,
     next_attempt_at INTEGER,
     paused_at INTEGER,
     last_success_at INTEGER,
     last_failure_at INTEGER,
     last_failure TEXT,
     owner TEXT,
     owner_until INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE plant_restriction (
     is_only INTEGER PRIMARY KEY DEFAULT 1 CHECK (is_only = 1),
     source TEXT,
     cursor TEXT,
     copy_from INTEGER,
     consistent_at TEXT
   ) STRICT;
   CREATE TABLE plant_store_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
  ADD_ENDS,
  (db) => {
    db.exec(CREATE_RECORDS)
    replaceBarrier(db)
  },
  CREATE_SORT_KEYS,
]

/** The version of the schema that the first migration creates (SQLite's `user_version`). */
export const FIRST_VERSION = 6

/** The first version with records. */
export const RECORDS_VERSION = 8

/** The first version with indexes for sorting. */
export const SORT_KEYS_VERSION = 9

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = FIRST_VERSION + MIGRATIONS.length - 1

/** Creates a schema version, or upgrades a database to it, in one transaction. */
export function migrate(db: Database, version = SCHEMA_VERSION, migrations = MIGRATIONS): void {
  // Without a lock: the schema is usually up to date, and another process may hold the lock.
  if (readSchemaVersion(db) === version) return
  const upgrade = db.transaction(() => {
    const due = migrations.slice(countMigrations(readSchemaVersion(db)), countMigrations(version))
    for (const step of due) typeof step === 'string' ? db.exec(step) : step(db)
    // A newer program may have upgraded the database since the check above. Its version must stay.
    db.pragma(`user_version = ${Math.max(version, readSchemaVersion(db))}`)
  })
  upgrade.immediate()
}

/** How many migrations have created a schema version; 0 for an empty database. */
function countMigrations(version: number): number {
  return Math.max(0, version - FIRST_VERSION + 1)
}

/** The schema version of a database; 0 if it is empty. */
export function readSchemaVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }))
}
