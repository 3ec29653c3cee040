import type { Database } from 'better-sqlite3'
import { PAGE_TEXT_MAX, type PlantPage } from '../../../../service/store/plant-store.ts'
import { ROWS_MAX } from '../../shared/page-limits.ts'
import { pageOf } from '../../shared/rows.ts'
import { lastIdOf, PLANT_JSON, TEXT_BYTES } from './plant-json.ts'

/** The longest text of a plant, in bytes. */
const PLANT_TEXT_MAX = Number.MAX_SAFE_INTEGER

/**
 * Reads the next plants of a page as JSON, or their ids if they are large.
 *
 * @param last the id of the last plant of the page, if it has one
 * @param limit how many to read
 */
type ReadRows = (last: bigint | undefined, limit: number) => readonly (string | bigint)[]

/** Prepares a function that makes a page of plants that are read in its order. */
export function preparePage(db: Database): (limit: number, read: ReadRows) => PlantPage {
  const json = db
    .prepare<[number, bigint], string | bigint>(
      `SELECT CASE WHEN ${TEXT_BYTES} <= ? THEN ${PLANT_JSON} ELSE id END FROM plants WHERE id = ?`,
    )
    .pluck()

  return (limit, read) => {
    const plants: string[] = []
    let text = 0
    let last: bigint | undefined
    for (;;) {
      const wanted = Math.min(limit + 1 - plants.length, ROWS_MAX)
      const found = read(last, wanted)
      for (const row of found) {
        if (plants.length === limit || text >= PAGE_TEXT_MAX) {
          return pageOf(plants, lastIdOf(plants))
        }
        const max = text === 0 ? PLANT_TEXT_MAX : PAGE_TEXT_MAX - text
        const plant = typeof row === 'string' ? row : json.get(max, row)
        if (plant === undefined) continue
        // Too large for a page that has some text already.
        if (typeof plant !== 'string') return pageOf(plants, lastIdOf(plants))
        plants.push(plant)
        text += plant.length
      }
      if (found.length < wanted) return pageOf(plants)
      if (plants.length > 0) last = lastIdOf(plants)
    }
  }
}
