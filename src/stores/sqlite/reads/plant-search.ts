import type { Database } from 'better-sqlite3'
import {
  PAGE_TEXT_MAX,
  type PlantPage,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/by-tag.ts'
import { pageOf } from '../../shared/rows.ts'
import { lastIdOf, PLANT_JSON } from './plant-json.ts'
import { prepareSlices } from './plant-slices.ts'

// SQLite's lower changes only ASCII letters. LIKE would ignore their case too, but is slow for hostile names.
const buildMatching = (condition: string) =>
  `FROM plants WHERE ${condition} id >= ? AND id <= ? AND instr(lower(name), lower(?))`

/** The plants of a slice that match: the end of a statement. */
export const MATCHING: ByTag<string> = {
  any: buildMatching(''),
  one: buildMatching('tag = +? AND'),
  none: buildMatching('tag IS NULL AND'),
}

/** Prepares the searches of PlantStore.list. */
export function prepareSearch(db: Database): (request: SearchRequest) => PlantPage {
  const findSlices = prepareSlices(db)
  const statements = mapByTag(MATCHING, (matching) =>
    db
      .prepare<unknown[], string>(`SELECT ${PLANT_JSON} ${matching} ORDER BY id LIMIT ? + 0`)
      .pluck(),
  )

  return ({ text, after, tag, limit }) => {
    const statement = forTag(tag, statements)
    const plants: string[] = []
    let length = 0
    let next: bigint | undefined
    for (const slice of findSlices(tag, after)) {
      const wanted = limit + 1 - plants.length
      for (const plant of statement.all(...tagsOf(tag), slice.from, slice.to, text, wanted)) {
        if (plants.length === limit || length >= PAGE_TEXT_MAX) {
          return pageOf(plants, lastIdOf(plants))
        }
        plants.push(plant)
        length += plant.length
      }
      next = slice.next
    }
    return pageOf(plants, next)
  }
}
