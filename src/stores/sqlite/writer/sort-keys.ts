import type { Database } from 'better-sqlite3'
import { textLength } from '../../../../service/store/plant-content.ts'
import { LIST_TEXT_MAX } from '../../../../service/store/plant-store.ts'
import {
  findUnfinished,
  readIndex,
  type SortIndex,
  sortKey,
  writeIndex,
} from '../../../../service/store/sort-index.ts'
import { KEYS_MAX } from '../../shared/page-limits.ts'
import { firstAfter } from '../../shared/reads/direction.ts'
import { type PlantRow, RECORD_COLUMNS, type RecordRow } from '../../shared/rows.ts'

export const MARKED = 'SELECT id FROM plants_without_keys ORDER BY id LIMIT ? + 0'
export const NEXT_PLANT = 'SELECT * FROM plants WHERE id >= ? ORDER BY id LIMIT 1'
export const REMOVE_KEYS = `
  DELETE FROM plant_sort_keys WHERE (id, number) IN (
    SELECT id, number FROM plant_sort_keys WHERE number = ? LIMIT ? + 0
  )`

/** Prepares what keeps sorted indexes right. The caller runs it in a transaction. */
export function prepareSortKeys(db: Database) {
  const marked = db.prepare<number, bigint>(MARKED).pluck()
  const unmark = db.prepare('DELETE FROM plants_without_keys WHERE id = ?')
  const plant = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const nextPlant = db.prepare<bigint, PlantRow>(NEXT_PLANT)
  const forget = db.prepare('DELETE FROM plant_sort_keys WHERE id = ?')
  const removeKeys = db.prepare(REMOVE_KEYS)
  // A plant that is marked has its key already when the index reaches it.
  const add = db.prepare(
    'INSERT INTO plant_sort_keys (id, number, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const records = db.prepare<[], RecordRow>(
    `SELECT ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = 'sort-index' ORDER BY key`,
  )
  const changeRecord = db.prepare(
    "UPDATE plant_store_records SET value = ? WHERE kind = 'sort-index' AND key = ?",
  )
  const removeRecord = db.prepare(
    "DELETE FROM plant_store_records WHERE kind = 'sort-index' AND key = ?",
  )

  /** Gives keys to plants that have changed, at most to a number of them. Returns whether there may be more. */
  const completeChanged = (plantsMax: number): boolean => {
    const ids = marked.all(plantsMax)
    if (ids.length === 0) return false
    const indexes = records
      .all()
      .map(readIndex)
      .filter(({ clears }) => clears === undefined)
    let text = 0
    for (const id of ids) {
      if (text >= LIST_TEXT_MAX) return true
      const row = plant.get(id)
      forget.run(id)
      unmark.run(id)
      if (row === undefined) continue
      text += textLength(row)
      for (const { member, number } of indexes) add.run(id, number, sortKey(member, row))
    }
    return ids.length === plantsMax
  }

  /** Gives keys to the next plants of an index. */
  const extend = (index: SortIndex): SortIndex => {
    let { upTo } = index
    let text = 0
    for (let plants = 0; plants < KEYS_MAX.plants && text < KEYS_MAX.text; plants++) {
      const from = firstAfter(upTo)
      const row = from === undefined ? undefined : nextPlant.get(from)
      if (row === undefined) return { ...index, isComplete: true, upTo: undefined }
      add.run(row.id, index.number, sortKey(index.member, row))
      text += textLength(row)
      upTo = row.id
    }
    return { ...index, upTo }
  }

  /** Removes some keys of an index. Returns undefined if the index is gone. */
  const clear = (index: SortIndex): SortIndex | undefined => {
    if (removeKeys.run(index.number, KEYS_MAX.plants).changes > 0) return index
    return index.clears === 'to-remove' ? undefined : { ...index, clears: undefined }
  }

  return {
    completeChanged,
    /** See PlantStore.indexPlants. */
    indexPlants(): boolean {
      if (completeChanged(KEYS_MAX.plants)) return true
      const index = findUnfinished(records.all().map(readIndex))
      if (index === undefined) return false
      const next = index.clears === undefined ? extend(index) : clear(index)
      if (next === undefined) removeRecord.run(index.member.name)
      else changeRecord.run(writeIndex(next), index.member.name)
      return true
    },
  }
}
