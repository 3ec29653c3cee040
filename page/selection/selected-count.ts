import type { PlantCount } from '../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { IdRange, IdRanges } from './id-ranges.ts'

/**
 * How many plants of a list are selected, as far as that is known without reading them.
 *
 * @param total how many plants the list's filter selects
 * @param gone the ids of rows whose plants are no longer in the list
 * @returns undefined if nothing is known
 */
export function countSelected(
  ranges: IdRanges,
  list: PlantList,
  total: PlantCount | undefined,
  gone: readonly bigint[] = [],
): PlantCount | undefined {
  const selected = countIn(list, ranges, gone)
  if (selected.isExact) return selected
  // Among many plants that are not in memory, it is easier to count those that are not selected.
  const others = countIn(list, ranges.complement, gone)
  if (total !== undefined && others.isExact) {
    return { plants: Math.max(0, total.plants - others.plants), isExact: total.isExact }
  }
  return selected.plants > 0 ? selected : undefined
}

/** How many plants of a list are in some ranges, at least. */
function countIn(list: PlantList, ranges: IdRanges, gone: readonly bigint[]): PlantCount {
  const counts = [...ranges].map((range) => countInRange(list, range))
  const rows = counts.reduce((sum, { plants }) => sum + plants, 0)
  return {
    plants: Math.max(0, rows - gone.filter((id) => ranges.has(id)).length),
    isExact: counts.every(({ isExact }) => isExact),
  }
}

function countInRange(list: PlantList, { from, to }: IdRange): PlantCount {
  const { first, end, isComplete } = list
  const isListed =
    (first === undefined || from >= first) && (isComplete || (end !== undefined && to <= end))
  const hasLast = list.find(to) !== undefined
  const [start, last] = [list.rank(from), list.rank(to)]
  const [unknownStart, unknownEnd] = [start, last].map((row) => list.missing(row, row + 1))
  // The plant was there when it was selected.
  if (from === to && (!isListed || unknownEnd !== undefined)) return { plants: 1, isExact: true }
  const plants = last + (hasLast ? 1 : 0) - start - (unknownStart?.count ?? 0)
  return {
    plants: Math.max(0, plants),
    isExact: isListed && list.isExact && unknownStart === undefined && unknownEnd === undefined,
  }
}
