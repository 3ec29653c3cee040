import type { Database } from 'better-sqlite3'
import { type SortIndex, sortKey } from '../../../../service/store/sort-index.ts'
import type { PlantRow } from '../../shared/rows.ts'

const IS_MARKED = 'id IN (SELECT id FROM plants_without_keys)'

export const PLANTS_WITH_KEYS = `
  SELECT plants.*, (SELECT key FROM plant_sort_keys WHERE id = plants.id AND number = ?) AS key
  FROM plants WHERE NOT ${IS_MARKED}`

export const KEYS_OF_REMOVED = `
  SELECT id FROM plant_sort_keys
  WHERE number = ? AND id NOT IN (SELECT id FROM plants) AND NOT ${IS_MARKED}`

/** Finds the plants whose keys in a complete index are missing or wrong, and then those that were removed. */
export function* findWrongKeys(db: Database, { member, number }: SortIndex): Generator<bigint> {
  const plants = db
    .prepare<number, PlantRow & { readonly key: Buffer | null }>(PLANTS_WITH_KEYS)
    .safeIntegers()
  for (const { key, ...plant } of plants.iterate(number)) {
    if (key === null || !sortKey(member, plant).equals(key)) yield plant.id
  }
  yield* db.prepare<number, bigint>(KEYS_OF_REMOVED).pluck().safeIntegers().iterate(number)
}
