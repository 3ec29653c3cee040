import type { Database } from 'better-sqlite3'
import { schemaObstacle } from '../../shared/store-error.ts'
import { compareSchema } from './schema-comparison.ts'
import {
  APPLICATION_ID,
  FIRST_VERSION,
  readSchemaVersion,
  SCHEMA_VERSION,
} from './sqlite-schema.ts'

/** Why this program cannot use a database; undefined if it can. */
export function findIncompatibility(db: Database): string | undefined {
  // In one transaction, because another process may be creating the schema.
  const inspect = db.transaction(() => {
    const id = db.pragma('application_id', { simple: true })
    const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
    const version = readSchemaVersion(db)
    const isOurs = id === APPLICATION_ID
    if (!isOurs && (id !== 0 || !isEmpty)) {
      return (id === 0 ? findLostMarks(db) : undefined) ?? 'it belongs to another program'
    }
    if (isEmpty && version < FIRST_VERSION) return undefined
    const obstacle = schemaObstacle(version, FIRST_VERSION, SCHEMA_VERSION)
    return version === 0 ? (findLostMarks(db) ?? obstacle) : obstacle
  })
  return inspect()
}

/**
 * What to do about a database that has our tables, but not the two numbers that say so: `.dump` and `.clone` of the
 * SQLite shell do not copy them. Undefined if its tables are not exactly those of a version.
 */
function findLostMarks(db: Database): string | undefined {
  for (let version = SCHEMA_VERSION; version >= FIRST_VERSION; version--) {
    if (compareSchema(db, version).differences.length > 0) continue
    return (
      'it has the tables of a plant-store database, but not its application_id and user_version, which .dump and ' +
      `.clone of sqlite3 leave out. If it is a complete copy, run on it: PRAGMA application_id = ${APPLICATION_ID}; ` +
      `PRAGMA user_version = ${version}`
    )
  }
}
