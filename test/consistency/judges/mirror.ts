/**
 * Whether a mirror only ever had plants that its source had too, at its position in the feed and between two
 * transactions, and never went back.
 */
import { toJson } from '../../../client/json.ts'
import { isConsistent } from '../../../service/restriction.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { replay } from '../../stores/feed-reads.ts'
import { byId } from '../../stores/plants.ts'
import type { StoredMirror } from '../services/service.ts'

/**
 * @param observed the plants of the mirror, each time read in one page, in the order of the reads
 * @param feed all changes of the source since its database was created
 */
export function judgeMirror(
  observed: readonly (readonly StoredPlant[])[],
  feed: readonly Change[],
): string[] {
  const plants = new Map<bigint, StoredPlant>()
  const state = () => toJson(byId(plants.values()))
  let position = 0
  let isBetween = true
  for (const [index, each] of observed.entries()) {
    const wanted = toJson(each)
    while (!(isBetween && state() === wanted) && position < feed.length) {
      const { id, plant, endsTransaction = false } = feed[position] as Change
      if (plant === undefined) plants.delete(id)
      else plants.set(id, { id, ...plant })
      position += 1
      isBetween = endsTransaction
    }
    if (!isBetween || state() !== wanted) {
      return [`read ${index} of the mirror is no later state of its source: ${wanted}`]
    }
  }
  return []
}

/**
 * Reads show no position, and the next changes hide a page that was lost, so this looks at what a killed mirror has
 * stored.
 */
export function judgePosition(
  { restriction, plants }: StoredMirror,
  feed: readonly Change[],
): string[] {
  if (!isConsistent(restriction)) return []
  // Before the first change, no change has the cursor.
  const position = feed.findIndex(({ cursor }) => cursor === restriction.cursor) + 1
  if (position > 0 && !feed[position - 1]?.endsTransaction) {
    return [`a killed mirror was within a transaction, at position ${position}`]
  }
  const [found, expected] = [toJson(plants), toJson(replay(feed.slice(0, position)))]
  return found === expected
    ? []
    : [`a killed mirror had ${found} at position ${position}, not ${expected}`]
}
