import Sqlite, { type Database } from 'better-sqlite3'
import { IN_MEMORY } from '../../shared/engine.ts'
import { EARLIER_BARRIER, prepareRestrictionRead, RAISE_BARRIER } from './restriction-barrier.ts'
import { migrate, readSchemaVersion } from './sqlite-schema.ts'

/** A table, an index, a trigger or a view that a statement created. */
interface SchemaObject {
  readonly type: string
  readonly name: string
  /** In lower case, because a trigger has it as its statement spells it. */
  readonly table: string
  /** Without line breaks and indentation, which differ between versions. */
  readonly sql: string
}

/** How the schema of a database compares with that of a new one. */
export interface SchemaComparison {
  /** How our tables, their indexes and triggers differ, each in one line that says what would be right. */
  readonly differences: readonly string[]
  /** The names of our tables. */
  readonly tables: readonly string[]
  /** The names of other tables, such as SQLite's own statistics, and of views. */
  readonly foreign: readonly string[]
}

/**
 * Compares the schema of a database with that of a new one of a version, its own by default, which refuses changes only
 * if the database does. Reads no plants. While other processes can write, it needs a transaction.
 */
export function compareSchema(db: Database, version = readSchemaVersion(db)): SchemaComparison {
  const model = new Sqlite(IN_MEMORY)
  try {
    migrate(model, version)
    const actual = readObjects(db)
    adoptRestriction(model, db, actual)
    const expected = readObjects(model)
    const tables = [...expected.values()].filter(isRelation).map(({ name }) => name)
    const unexpected = [...actual].filter(([key]) => !expected.has(key)).map(([, object]) => object)
    const lacking = [...expected].filter(([key, { sql }]) => actual.get(key)?.sql !== sql)
    const differences = [
      ...lacking.map(([key, { sql }]) => {
        return `${key} ${actual.has(key) ? 'differs' : 'is missing'}; expected ${sql}`
      }),
      ...unexpected
        .filter((object) => !isRelation(object) && tables.includes(object.table))
        .map(({ type, name, table }) => {
          const drop = `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`
          return `unexpected ${type} on ${table}; remove it with ${drop}`
        }),
    ]
    return {
      differences: differences.map((text) => `its schema differs from version ${version}: ${text}`),
      tables,
      foreign: unexpected.filter(isRelation).map(({ name }) => name),
    }
  } finally {
    model.close()
  }
}

/** The objects by type and name. Indexes that SQLite itself creates belong to the statement of their table. */
function readObjects(db: Database): Map<string, SchemaObject> {
  const objects = db
    .prepare<[], SchemaObject>(
      `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
       WHERE sql IS NOT NULL ORDER BY rowid`,
    )
    .all()
  return new Map(
    objects.map((each) => [
      `${each.type} ${each.name}`,
      { ...each, sql: each.sql.replace(/\s+/g, ' ') },
    ]),
  )
}

/** Gives a new database the triggers that refuse changes, if the other one is restricted and its records are ours. */
function adoptRestriction(model: Database, db: Database, actual: Map<string, SchemaObject>): void {
  const [theirs, ours] = [actual, readObjects(model)].map((all) =>
    all.get('table plant_store_records'),
  )
  if (theirs?.sql !== ours?.sql) return
  // Before records, a table had the restriction, which the upgrade reads.
  const isRestricted =
    ours === undefined
      ? actual.has('trigger refuse_insert')
      : prepareRestrictionRead(db)() !== undefined
  if (isRestricted) model.exec(ours === undefined ? EARLIER_BARRIER : RAISE_BARRIER)
}

function isRelation({ type }: SchemaObject): boolean {
  return type === 'table' || type === 'view'
}
