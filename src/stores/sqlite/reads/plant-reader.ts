import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { PlantReader } from '../../shared/store.ts'
import { MissingDatabase, olderSchemaMessage, StoreError } from '../../shared/store-error.ts'
import { findIncompatibility } from '../file/compatibility.ts'
import { openExisting, openSnapshot, type SqliteOptions } from '../file/database.ts'
import { compareSchema } from '../file/schema-comparison.ts'
import { explain } from '../file/sqlite-errors.ts'
import { readSchemaVersion, SCHEMA_VERSION } from '../file/sqlite-schema.ts'
import { exportPlants, Reader } from './reader.ts'

/** See Engine.openReader. */
export function openReader(options: SqliteOptions): PlantReader {
  const unusable = `cannot use the database ${options.file}`
  let db: Database | undefined
  try {
    db = openExisting(options)
    // Unless the database is in use, SQLite creates files next to it. A user who cannot write to the database would
    // leave these files behind, and the service might be unable to write to them.
    if (!existsSync(`${realpathSync(db.name)}-shm`)) accessSync(db.name, constants.W_OK)
    // In one transaction, because another process may be upgrading the schema.
    const version = db.transaction(readVersion)(db)
    if (version === 0) throw new MissingDatabase(`${unusable}: it is empty`)
    if (version !== SCHEMA_VERSION) throw new Error(olderSchemaMessage(version, SCHEMA_VERSION))
    const opened = db.defaultSafeIntegers()
    const reader = new Reader(opened)
    return {
      getAll: (ids) => reader.getAll(ids),
      list: (request) => reader.list(request),
      exportPlants: () => exportPlants(() => openSnapshot(opened, options)),
      findRecord: async (kind, key) => reader.findRecord(kind, key),
      close: async () => reader.close(),
    }
  } catch (error) {
    db?.close()
    if (error instanceof StoreError) throw error
    throw new StoreError(`${unusable}: ${explain(error)}`, { cause: error })
  }
}

/** @throws Error if this program cannot use the database */
function readVersion(db: Database): number {
  const obstacle = findIncompatibility(db) ?? compareSchema(db).differences[0]
  if (obstacle !== undefined) throw new Error(obstacle)
  return readSchemaVersion(db)
}
