import type { Member } from '../../core/members/members.ts'
import { pageReader } from '../../service/page-reader.ts'
import { textLength } from '../../service/store/plant-content.ts'
import {
  LIST_TEXT_MAX,
  type PlantStore,
  type StoredPlant,
} from '../../service/store/plant-store.ts'

/** The number of ids in a read, which limits its cost if it finds few plants. */
const READ_IDS = 1000

/**
 * Resolves to the plants with some ids, by id, or to `too-large` if there are several ids, and their plants have more than
 * LIST_TEXT_MAX of text, in UTF-16 units.
 */
export type PlantFinder = (
  ids: readonly bigint[],
) => Promise<ReadonlyMap<bigint, StoredPlant> | 'too-large'>

/** Prepares to find plants of a store. */
export function plantFinder(
  store: Pick<PlantStore, 'getAll'>,
  members: readonly Member[],
): PlantFinder {
  const readPage = pageReader(members)
  return async (given) => {
    const ids = [...new Set(given)].sort((one, other) => (one < other ? -1 : 1))
    const found = new Map<bigint, StoredPlant>()
    let text = 0
    for (let start = 0; start < ids.length; start += READ_IDS) {
      let rest = ids.slice(start, start + READ_IDS)
      while (rest.length > 0) {
        const page = await store.getAll(rest)
        for (const plant of readPage(page)) {
          found.set(plant.id, plant)
          text += textLength(plant)
        }
        if (text > LIST_TEXT_MAX && ids.length > 1) return 'too-large'
        const { next } = page
        rest = next === undefined ? [] : rest.filter((id) => id > next)
      }
    }
    return found
  }
}
