import type { Database } from 'better-sqlite3'
import type { Restriction } from '../../../../service/restriction.ts'
import {
  RESTRICTION_COLUMNS,
  type RestrictionRow,
  toRestriction,
} from '../../shared/restriction-row.ts'

/**
 * Refuse changes by any process. They exist only while the database is restricted. A step deletes the restriction before
 * it changes plants.
 */
const BARRIER = ['INSERT', 'UPDATE', 'DELETE'].map((event) => ({
  name: `refuse_${event.toLowerCase()}`,
  definition: `
    BEFORE ${event} ON plants WHEN EXISTS (SELECT 1 FROM plant_restriction) BEGIN
      SELECT RAISE(ABORT, 'changes to plants are restricted');
    END`,
}))

/** Begins to refuse changes. */
export const RAISE_BARRIER = BARRIER.map(
  ({ name, definition }) => `CREATE TRIGGER ${name} ${definition.trim()};`,
).join('\n')

/** Stops refusing them. */
export const REMOVE_BARRIER = BARRIER.map(({ name }) => `DROP TRIGGER ${name};`).join('\n')

/** Returns a function that reads the restriction. */
export function prepareRestrictionRead(db: Database): () => Restriction | undefined {
  const find = db.prepare<[], RestrictionRow>(
    `SELECT ${RESTRICTION_COLUMNS.join()} FROM plant_restriction WHERE is_only = 1`,
  )
  return () => toRestriction(find.get())
}
