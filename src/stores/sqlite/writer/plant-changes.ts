import type { Database } from 'better-sqlite3'
import { known } from '../../../../contract/known.ts'
import {
  type ChangeResult,
  type ChangeType,
  type CreateResult,
  isRefusal,
  type NoMatch,
  type PlantChange,
  type StoredPlant,
} from '../../../../service/plant-store.ts'
import { type ChangeList, type ChangeOf, type Decision, decide } from '../../shared/plant-change.ts'
import { CONTENT_COLUMNS, contentValues, type PlantRow, toPlant } from '../../shared/rows.ts'
import { MARK_END } from '../feed/change-triggers.ts'

/** A change that was made, and the plant before it. */
interface Made<Type extends ChangeType = ChangeType> extends Decision<Type> {
  readonly before: StoredPlant | undefined
}

type Effect = Pick<Made, 'before' | 'after'>

/** Prepares the changes that PlantStore describes. The caller runs them in a transaction. */
export function preparePlantChanges(db: Database) {
  const insert = db.prepare(
    `INSERT INTO plants (id, ${CONTENT_COLUMNS.join(', ')})
     VALUES (?, ${CONTENT_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
  )
  const select = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const replace = db.prepare(
    `UPDATE plants SET ${CONTENT_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  )
  const erase = db.prepare('DELETE FROM plants WHERE id = ?')
  const lastPosition = db.prepare<[], bigint | null>('SELECT max(position) FROM changes').pluck()
  const markEnd = db.prepare(MARK_END)
  const removeChangesAfter = db.prepare('DELETE FROM changes WHERE position > ?')

  /** Returns false if the id is taken. */
  const store = (plant: StoredPlant): boolean =>
    insert.run(plant.id, ...contentValues(plant)).changes === 1
  const write = (before: StoredPlant | undefined, after: StoredPlant | undefined): void => {
    if (before === after) return
    if (after === undefined) erase.run(before?.id)
    else if (before === undefined) store(after)
    else replace.run(...contentValues(after), after.id)
  }
  const make = <Change extends PlantChange>(change: Change): Made<Change['type']> => {
    const row = select.get(change.id)
    const before = row && toPlant(row)
    const decision = decide(before, change)
    write(before, decision.after)
    return { ...decision, before }
  }
  /** Makes a change that can create a plant. A new plant needs no read. */
  const makeFirst = <Change extends ChangeOf<'create' | 'put'>>(
    change: Change,
  ): Made<Change['type']> =>
    store(change) ? { result: 'created', before: undefined, after: change } : make(change)

  return {
    create(change: ChangeOf<'create'>): CreateResult {
      return makeFirst(change).result
    },
    update(change: ChangeOf<'update'>): StoredPlant | NoMatch {
      const { result, after } = make(change)
      return result === 'updated' || result === 'unchanged' ? known(after) : result
    },
    remove(change: ChangeOf<'remove'>): 'removed' | NoMatch {
      const { result } = make(change)
      return result === 'unchanged' ? 'not-found' : result
    },
    /** See PlantStore.apply. The transaction can contain other changes, so it is not rolled back. */
    apply({ changes, mode }: ChangeList): ChangeResult[] {
      markEnd.run()
      const start = lastPosition.get()
      const made: Effect[] = []
      const results: ChangeResult[] = []
      for (const index of orderById(changes)) {
        const change = known(changes[index])
        const { result, before, after } = 'name' in change ? makeFirst(change) : make(change)
        results[index] = result
        if (before !== after) made.push({ before, after })
      }
      if (mode === 'all-or-none' && results.some(isRefusal)) {
        for (const { before, after } of made.reverse()) write(after, before)
        removeChangesAfter.run(start)
      }
      markEnd.run()
      return results
    },
  }
}

/**
 * The indexes of changes, sorted by id, because neighboring ids share a page of the file. The sort is stable, so
 * changes to one plant stay in order.
 */
function orderById(changes: readonly PlantChange[]): number[] {
  const ids = changes.map(({ id }) => id)
  return [...ids.keys()].sort((one, other) => {
    const [a, b] = [known(ids[one]), known(ids[other])]
    return a < b ? -1 : Number(a > b)
  })
}
