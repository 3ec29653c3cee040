import type { PlantCount } from '../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import type { IdRange, IdRanges } from './id-ranges.ts'

/** More than a person can select one by one. */
const ONE_BY_ONE_MAX = 1_000_000n

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
  const counts = list.order.isById
    ? [...ranges].map((range) => countInRange(list, range))
    : [countOneByOne(list, ranges)]
  const rows = counts.reduce((sum, { plants }) => sum + plants, 0)
  return {
    plants: Math.max(0, rows - gone.filter((id) => ranges.has(id)).length),
    isExact: counts.every(({ isExact }) => isExact),
  }
}

function countInRange(list: PlantList, { from, to }: IdRange): PlantCount {
  const [head, tail] = list.order.isDescending ? [to, from] : [from, to]
  const isListed = list.covers(head, tail)
  const hasLast = list.find(tail) !== undefined
  const [start, last] = [list.rank(head), list.rank(tail)]
  const [unknownStart, unknownEnd] = [start, last].map((row) => list.missing(row, row + 1))
  // The plant was there when it was selected.
  if (from === to && (!isListed || unknownEnd !== undefined)) return { plants: 1, isExact: true }
  const plants = last + (hasLast ? 1 : 0) - start - (unknownStart?.count ?? 0)
  return {
    plants: Math.max(0, plants),
    isExact: isListed && list.isExact && unknownStart === undefined && unknownEnd === undefined,
  }
}

/** In an order by something else, plants are selected one by one, or all of them, and deselected one by one. */
function countOneByOne(list: PlantList, ranges: IdRanges): PlantCount {
  const plants = list.slice(0, list.length)
  if (list.isComplete && !list.isCut && !plants.includes(undefined)) {
    return { plants: plants.filter((each) => each && ranges.has(each.id)).length, isExact: true }
  }
  const ids = [...ranges].reduce((sum, { from, to }) => sum + to - from + 1n, 0n)
  const isExact = ids <= ONE_BY_ONE_MAX
  return { plants: isExact ? Number(ids) : 0, isExact }
}

/** The plants of a list from one to another, as ranges of ids. Undefined if some of them are not in memory. */
export function rangesBetween(
  list: PlantList,
  one: bigint,
  other: bigint,
): readonly IdRange[] | undefined {
  if (list.order.isById) return [one < other ? { from: one, to: other } : { from: other, to: one }]
  if (list.find(one) === undefined || list.find(other) === undefined) return undefined
  const [first = 0, last = 0] = [list.rank(one), list.rank(other)].sort((a, b) => a - b)
  const plants = list.slice(first, last + 1).filter((plant) => plant !== undefined)
  if (plants.length <= last - first) return undefined
  return plants.map(({ id }) => ({ from: id, to: id }))
}
