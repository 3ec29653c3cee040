import type { Database } from 'better-sqlite3'
import type { PlantFilter } from '../../../../service/store/plant-filter.ts'
import { longestOf, toMatch, toNameTest } from '../../../../service/store/plant-match.ts'
import {
  PAGE_TEXT_MAX,
  type PlantPage,
  type SearchRequest,
} from '../../../../service/store/plant-store.ts'
import { type ByTag, forTag, mapByTag, tagsOf } from '../../shared/reads/by-tag.ts'
import { byDirection, inDirection } from '../../shared/reads/direction.ts'
import { pageOf } from '../../shared/rows.ts'
import { lastIdOf, PLANT_JSON } from './plant-json.ts'
import { prepareSlices } from './plant-slices.ts'

/** How much of a word LIKE looks for, because it is slow for long patterns and hostile names. */
const LIKE_LENGTH = 4

/**
 * LIKE rejects most plants in a third of the time of `lower`. The function, which takes ten times as long, decides only
 * where SQL cannot.
 */
const buildMatching = (condition: string) => `
  FROM plants WHERE ${condition} id >= ? AND id <= ?
  AND (name LIKE +? OR octet_length(name) > length(name))
  AND CASE WHEN ? AND instr(lower(name), ?) THEN 1 ELSE plant_matches(name, fields) END`

/** The plants of a slice that match: the end of a statement. */
export const MATCHING: ByTag<string> = {
  any: buildMatching(''),
  one: buildMatching('tag = +? AND'),
  none: buildMatching('tag IS NULL AND'),
}

/** Prepares a function that begins a read of plants that match, and returns the last parameters of MATCHING. */
export function prepareMatch(
  db: Database,
): (filter: PlantFilter) => [pattern: string, isEnough: number, part: string] {
  let matches: ReturnType<typeof toMatch>
  db.function('plant_matches', (name: string, fields: string | null) =>
    Number(matches(name, fields)),
  )
  return (filter) => {
    matches = toMatch(filter)
    const { parts, isEnough } = toNameTest(filter)
    const longest = longestOf(parts)
    const start = longest.slice(0, LIKE_LENGTH).replace(/%/g, '_')
    return [`%${start}%`, Number(isEnough && parts.length < 2), longest]
  }
}

/** Prepares the searches of PlantStore.list. */
export function prepareSearch(
  db: Database,
  beginMatch: ReturnType<typeof prepareMatch>,
): (request: SearchRequest) => PlantPage {
  const findSlices = prepareSlices(db)
  const statements = byDirection(({ order }) =>
    mapByTag(MATCHING, (matching) =>
      db
        .prepare<unknown[], string>(
          `SELECT ${PLANT_JSON} ${matching} ORDER BY id ${order} LIMIT ? + 0`,
        )
        .pluck(),
    ),
  )

  return ({ after, isDescending, tag, limit, ...filter }) => {
    const test = beginMatch(filter)
    const statement = forTag(tag, inDirection(statements, isDescending))
    const plants: string[] = []
    let length = 0
    let next: bigint | undefined
    for (const slice of findSlices(tag, after, isDescending)) {
      const wanted = limit + 1 - plants.length
      for (const plant of statement.all(...tagsOf(tag), slice.from, slice.to, ...test, wanted)) {
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
