import type { Database } from 'better-sqlite3'
import type { NewPlant } from '../../../../service/plant-store.ts'
import {
  beginsMirror,
  type Restriction,
  type RestrictionResult,
  type RestrictionStep,
  restrictedError,
} from '../../../../service/restriction.ts'
import {
  beginsCopy,
  isSameRestriction,
  RESTRICTION_COLUMNS,
  type RestrictionRow,
  restrictionValues,
  toRestriction,
} from '../../restriction-row.ts'
import { RENEW_LOG } from '../feed/change-triggers.ts'

/** Thrown to roll a step back, because its effect was not the required one. */
class Diverged extends Error {}

export interface RestrictionChanges {
  restrict(step: RestrictionStep): RestrictionResult
}

/** Returns a function that reads the restriction. */
export function prepareRestrictionRead(db: Database): () => Restriction | undefined {
  const find = db.prepare<[], RestrictionRow>(
    `SELECT ${RESTRICTION_COLUMNS.join()} FROM plant_restriction WHERE is_only = 1`,
  )
  return () => {
    const row = find.get()
    return row && toRestriction(row)
  }
}

/**
 * Returns a function that refuses changes to plants.
 *
 * @throws StoreUnavailable if the database is restricted
 */
export function prepareRefusal(db: Database): () => void {
  const read = prepareRestrictionRead(db)
  return () => {
    const restriction = read()
    if (restriction !== undefined) throw restrictedError(restriction)
  }
}

/** Prepares RestrictionStore.restrict. The caller runs it in a transaction, which can contain other changes. */
export function prepareRestrictionChanges(db: Database): RestrictionChanges {
  const read = prepareRestrictionRead(db)
  const anyPlant = db.prepare('SELECT 1 FROM plants LIMIT 1')
  const clear = db.prepare('DELETE FROM plant_restriction')
  const set = db.prepare(
    `INSERT INTO plant_restriction (${RESTRICTION_COLUMNS.join()})
     VALUES (${RESTRICTION_COLUMNS.map(() => '?').join()})`,
  )
  const create = db.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const replace = db.prepare('UPDATE plants SET name = ?, tag = ? WHERE id = ?')
  const remove = db.prepare('DELETE FROM plants WHERE id = ?')

  /** Returns whether the plant is new. */
  const store = ({ id, name, tag }: NewPlant): boolean => {
    if (create.run(id, name, tag ?? null).changes === 1) return true
    replace.run(name, tag ?? null, id)
    return false
  }
  // Within a transaction, this is a savepoint.
  const make = db.transaction(({ next, stored = [], removed = [], effect }: RestrictionStep) => {
    // Sorted, because neighbors share a page of the file.
    const sorted = [...stored].sort((a, b) => (a.id < b.id ? -1 : 1))
    const created = sorted.filter(store).length
    const gone = removed.filter((id) => remove.run(id).changes === 1).length
    if (effect !== undefined && (created !== effect.created || gone !== effect.removed)) {
      throw new Diverged()
    }
    clear.run()
    if (next !== undefined) set.run(...restrictionValues(next))
    if (beginsCopy(next)) db.exec(RENEW_LOG)
  })
  return {
    restrict(step) {
      if (!isSameRestriction(step.expected, read())) return 'unexpected'
      if (beginsMirror(step) && anyPlant.get() !== undefined) return 'not-empty'
      try {
        make(step)
        return 'done'
      } catch (error) {
        if (error instanceof Diverged) return 'diverged'
        throw error
      }
    },
  }
}
