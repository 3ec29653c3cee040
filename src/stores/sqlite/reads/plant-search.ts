import type { Database } from 'better-sqlite3'
import { type PlantPage, SEARCH_MAX, type SearchRequest } from '../../../../service/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/by-tag.ts'
import { BATCH_TEXT_MAX } from '../../shared/page-limits.ts'
import { joinPlants } from '../../shared/rows.ts'
import { lastIdOf, PLANT_JSON } from './plant-json.ts'
import { examine, prepareSlices, type Read } from './plant-slices.ts'

// SQLite's lower changes only ASCII letters. LIKE would ignore their case too, but is slow for hostile names.
const buildMatching = (condition: string) =>
  `FROM plants WHERE ${condition} id >= ? AND id <= ? AND instr(lower(name), lower(?))`

/** The plants of a slice that match: the end of a statement. */
export const MATCHING: ByTag<string> = {
  any: buildMatching(''),
  one: buildMatching('tag = +? AND'),
  none: buildMatching('tag IS NULL AND'),
}

/** Prepares a function that searches plants by name and tag, in slices. */
export function prepareSearch(
  db: Database,
  read: Read,
): (request: SearchRequest) => Promise<PlantPage> {
  const findSlice = prepareSlices(db)
  const statements = mapByTag(MATCHING, (matching) =>
    db
      .prepare<unknown[], string>(`SELECT ${PLANT_JSON} ${matching} ORDER BY id LIMIT ? + 0`)
      .pluck(),
  )

  return async ({ text, after, tag, limit }) => {
    const statement = forTag(tag, statements)
    const found: string[] = []
    let foundText = 0
    const examineSlice = (from: bigint) => {
      const slice = findSlice(tag, from)
      if (slice.last !== undefined) {
        const wanted = limit + 1 - found.length
        for (const plant of statement.all(...tagsOf(tag), from, slice.last, text, wanted)) {
          found.push(plant)
          foundText += plant.length
        }
      }
      return slice
    }
    const isEnough = () => found.length > limit || foundText >= BATCH_TEXT_MAX
    const next = await examine(read, after, SEARCH_MAX, examineSlice, isEnough)
    if (found.length <= limit) return { json: joinPlants(found), next }
    const plants = found.slice(0, limit)
    return { json: joinPlants(plants), next: lastIdOf(plants) }
  }
}
