import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import { readsText } from '../../../../service/store/plant-filter.ts'
import type { NoOrder, SortedPage, SortedRequest } from '../../../../service/store/plant-store.ts'
import { type SortPlace, usableIndex } from '../../../../service/store/sort-index.ts'
import { ROW_TEXT_MAX, ROWS_MAX } from '../../shared/page-limits.ts'
import {
  type KeyRow,
  placesAfter,
  SortedPageBuilder,
  UNSORTED_MAX,
  type UnsortedPlants,
} from '../../shared/reads/sorted-page.ts'
import type { PlantRow } from '../../shared/rows.ts'
import { JSON_OR_ID, TEXT_BYTES } from './plant-json.ts'
import type { preparePage } from './plant-page.ts'

/** A large plant has no name here, so that it is read only if it is needed. Nor has one that was removed. */
function buildKeys(order: '' | 'DESC'): string {
  const [from, to] = order === 'DESC' ? ['<=', '>='] : ['>=', '<=']
  return `
    SELECT plant_sort_keys.id, key, name, tag, fields
    FROM plant_sort_keys LEFT JOIN plants ON plants.id = plant_sort_keys.id AND ${TEXT_BYTES} <= ${ROW_TEXT_MAX}
    WHERE number = ? AND (key, plant_sort_keys.id) ${from} (?, ?) AND (key, plant_sort_keys.id) ${to} (?, ?)
    ORDER BY key ${order}, plant_sort_keys.id ${order} LIMIT ? + 0`
}

export const KEYS = buildKeys('')
export const KEYS_REVERSED = buildKeys('DESC')

/** The plants without their keys, which take as long to read as the plants. */
function buildPage(order: '' | 'DESC'): string {
  const [from, to] = order === 'DESC' ? ['<=', '>='] : ['>=', '<=']
  return `
    SELECT ${JSON_OR_ID}
    FROM (SELECT number, key, id AS key_id FROM plant_sort_keys) CROSS JOIN plants ON plants.id = key_id
    WHERE number = ? AND (key, key_id) ${from} (?, ?) AND (key, key_id) ${to} (?, ?)
    ORDER BY key ${order}, key_id ${order} LIMIT ? + 0`
}

export const KEY = 'SELECT key FROM plant_sort_keys WHERE id = ? AND number = ?'

export const UNSORTED = `
  SELECT plants_without_keys.id, ifnull(${TEXT_BYTES}, 0) AS text
  FROM plants_without_keys LEFT JOIN plants USING (id) LIMIT ? + 0`

/**
 * Prepares PlantStore.listSorted. The caller runs it in a transaction.
 *
 * @param fillPage see preparePage
 */
export function prepareSorted(
  db: Database,
  fillPage: ReturnType<typeof preparePage>,
): (request: SortedRequest) => SortedPage | NoOrder {
  const record = db
    .prepare<string, string>(
      "SELECT value FROM plant_store_records WHERE kind = 'sort-index' AND key = ?",
    )
    .pluck()
  const key = db.prepare<[bigint, number], Buffer>(KEY).pluck()
  const pages = [buildPage(''), buildPage('DESC')].map((sql) =>
    db.prepare<unknown[], string | bigint>(sql).pluck(),
  )
  const plant = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const find = (id: bigint) => plant.get(id)
  const keys = db.prepare<unknown[], KeyRow>(KEYS)
  const keysReversed = db.prepare<unknown[], KeyRow>(KEYS_REVERSED)
  const unsortedIds = db.prepare<number, { id: bigint; text: bigint }>(UNSORTED)

  /** Undefined if there are too many. */
  const readUnsorted = (): UnsortedPlants | undefined => {
    const found = unsortedIds.all(UNSORTED_MAX.plants + 1)
    const lengths = found.map((each) => Number(each.text)).sort((one, other) => one - other)
    const text = lengths.slice(0, -1).reduce((sum, length) => sum + length, 0)
    if (found.length > UNSORTED_MAX.plants || text > UNSORTED_MAX.text) return undefined
    return new Map(found.map(({ id }) => [id, plant.get(id)]))
  }

  /** A page if all plants are selected and have keys. */
  const listAll = (
    { isDescending, ranges, limit, after }: SortedRequest,
    number: number,
  ): SortedPage => {
    const statement = known(pages[Number(isDescending)])
    const toPlace = (id: bigint): SortPlace => ({ id, key: known(key.get(id, number)) })
    const page = fillPage(limit, (last, wanted) => {
      const place = last === undefined ? after : toPlace(last)
      const rows: (string | bigint)[] = []
      for (const range of ranges) {
        const places = placesAfter(range, isDescending, place)
        if (places === undefined) continue
        const { first, last } = places
        const [from, to] = isDescending ? [last, first] : [first, last]
        const left = wanted - rows.length
        rows.push(...statement.all(number, from.key, from.id, to.key, to.id, left))
        if (rows.length === wanted) break
      }
      return rows
    })
    const { json, found, next } = page
    return { json, found, next: next === undefined ? undefined : toPlace(next) }
  }

  return (request) => {
    const number = usableIndex(request.member, record.get(request.member.name))
    if (number === undefined) return 'incomplete'
    const unsorted = readUnsorted()
    if (unsorted === undefined) return 'behind'
    if (unsorted.size === 0 && request.tag === undefined && !readsText(request)) {
      return listAll(request, number)
    }
    const { isDescending, ranges } = request
    const statement = isDescending ? keysReversed : keys
    const page = new SortedPageBuilder(request)
    for (const range of ranges) {
      for (let isEnd = false; !isEnd; ) {
        const places = placesAfter(range, isDescending, page.last)
        if (places === undefined) break
        const { first, last } = places
        const [from, to] = isDescending ? [last, first] : [first, last]
        const wanted = Math.min(page.wanted, ROWS_MAX)
        const found = statement.all(number, from.key, from.id, to.key, to.id, wanted)
        isEnd = found.length < wanted
        const full = page.add({ places, rows: found, isEnd, unsorted, find })
        if (full !== undefined) return full
      }
    }
    return page.end()
  }
}

export const NEEDS_KEYS = `
  SELECT EXISTS (SELECT 1 FROM plants_without_keys) OR EXISTS (
    SELECT 1 FROM plant_store_records WHERE kind = 'sort-index' AND NOT value ->> 'isComplete'
  )`

/** Prepares a check whether PlantStore.indexPlants can have something to do. */
export function prepareIndexCheck(db: Database): () => boolean {
  const check = db.prepare<[], bigint>(NEEDS_KEYS).pluck()
  return () => check.get() === 1n
}
