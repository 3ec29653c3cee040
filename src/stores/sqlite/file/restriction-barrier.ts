import type { Database } from 'better-sqlite3'
import { parseRestriction, type Restriction } from '../../../../service/restriction.ts'

/**
 * Refuse changes by any process. They exist only while the database is restricted. A list with a guard deletes the record
 * before it changes plants.
 */
const BARRIER = ['INSERT', 'UPDATE', 'DELETE'].map((event) => ({
  name: `refuse_${event.toLowerCase()}`,
  definition: `
    BEFORE ${event} ON plants WHEN EXISTS (SELECT 1 FROM plant_store_records WHERE kind = 'restriction') BEGIN
      SELECT RAISE(ABORT, 'changes to plants are restricted');
    END`,
}))

/** Begins to refuse changes. */
export const RAISE_BARRIER = BARRIER.map(
  ({ name, definition }) => `CREATE TRIGGER ${name} ${definition.trim()};`,
).join('\n')

/** The same of versions that had a table for the restriction. */
export const EARLIER_BARRIER = RAISE_BARRIER.replaceAll(
  "plant_store_records WHERE kind = 'restriction'",
  'plant_restriction',
)

/** Stops refusing them. */
export const REMOVE_BARRIER = BARRIER.map(({ name }) => `DROP TRIGGER ${name};`).join('\n')

/** Returns a function that reads the restriction. */
export function prepareRestrictionRead(db: Database): () => Restriction | undefined {
  const find = db
    .prepare<[], string>("SELECT value FROM plant_store_records WHERE kind = 'restriction'")
    .pluck()
  return () => parseRestriction(find.get())
}

/** Replaces the triggers of a version that had a table for the restriction, if there are any. */
export function replaceBarrier(db: Database): void {
  const names = BARRIER.map(({ name }) => `'${name}'`).join()
  const found = db.prepare(
    `SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name IN (${names})`,
  )
  if (found.get() !== undefined) db.exec(`${REMOVE_BARRIER}\n${RAISE_BARRIER}`)
}
