import type { Database } from 'better-sqlite3'
import { hasSameContent } from '../../../../contract/plant.ts'
import {
  type BatchResult,
  type CreateResult,
  contentVersion,
  type ImportResult,
  type NewPlant,
  type NoMatch,
  type OnConflict,
  type PlantPatch,
  type StoredPlant,
} from '../../../../service/plant-store.ts'
import { type PlantRow, toPlant } from '../../shared/rows.ts'

/** Prepares the changes that PlantStore describes. The caller runs them in a transaction. */
export function preparePlantChanges(db: Database) {
  const insert = db.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const find = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const replace = db.prepare('UPDATE plants SET name = ?, tag = ? WHERE id = ?')
  const erase = db.prepare('DELETE FROM plants WHERE id = ?')
  const lastPosition = db.prepare<[], bigint | null>('SELECT max(position) FROM changes').pluck()
  const removeChangesAfter = db.prepare('DELETE FROM changes WHERE position > ?')

  const create = (plant: NewPlant): CreateResult => {
    const { id, name, tag } = plant
    if (insert.run(id, name, tag ?? null).changes === 1) return 'created'
    return hasSameContent(find.get(id), plant) ? 'replayed' : 'conflict'
  }
  const findExpected = (id: bigint, expected?: readonly string[]): PlantRow | NoMatch => {
    const stored = find.get(id)
    if (stored === undefined) return 'not-found'
    return expected?.includes(contentVersion(toPlant(stored))) === false ? 'changed' : stored
  }
  const importOne = (plant: NewPlant, onConflict: OnConflict): ImportResult => {
    const result = create(plant)
    if (result !== 'conflict' || onConflict === 'stop') return result
    if (onConflict === 'keep') return 'kept'
    replace.run(plant.name, plant.tag ?? null, plant.id)
    return 'replaced'
  }
  const importSorted = (plants: readonly NewPlant[], onConflict: OnConflict): ImportResult[] => {
    const results: ImportResult[] = []
    for (const [index, plant] of sortById(plants)) results[index] = importOne(plant, onConflict)
    return results
  }
  /**
   * Imports plants with `stop`. If one of them conflicts, none is stored, and none is in the feed. The transaction can contain other
   * changes, so it is not rolled back.
   */
  const importUnlessConflict = (plants: readonly NewPlant[]): ImportResult[] => {
    const start = lastPosition.get()
    const results = importSorted(plants, 'stop')
    if (!results.includes('conflict')) return results
    for (const [index, { id }] of plants.entries()) {
      if (results[index] === 'created') erase.run(id)
    }
    removeChangesAfter.run(start)
    return results
  }

  return {
    create,
    createAll(plants: readonly NewPlant[]): BatchResult {
      const results = importUnlessConflict(plants)
      const conflict = plants[results.indexOf('conflict')]
      if (conflict !== undefined) return { conflict: conflict.id }
      const created = results.filter((result) => result === 'created').length
      return { created, replayed: plants.length - created }
    },
    update(id: bigint, patch: PlantPatch, expected?: readonly string[]): StoredPlant | NoMatch {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      const { name = stored.name, tag = stored.tag } = patch
      replace.run(name, tag, id)
      return toPlant({ id, name, tag })
    },
    remove(id: bigint, expected?: readonly string[]): 'removed' | NoMatch {
      const stored = findExpected(id, expected)
      if (typeof stored === 'string') return stored
      erase.run(id)
      return 'removed'
    },
    importPlants(plants: readonly NewPlant[], onConflict: OnConflict): ImportResult[] {
      if (onConflict !== 'stop') return importSorted(plants, onConflict)
      const results = importUnlessConflict(plants)
      const stop = results.indexOf('conflict')
      if (stop === -1) return results
      importSorted(plants.slice(0, stop), 'stop')
      return results.slice(0, stop + 1)
    },
  }
}

/**
 * Plants with their index, sorted because neighbors share a page of the file. The sort is stable, so plants with one id
 * stay in order.
 */
function sortById(plants: readonly NewPlant[]): [index: number, plant: NewPlant][] {
  return [...plants.entries()].sort(([, a], [, b]) => (a.id < b.id ? -1 : Number(a.id > b.id)))
}
