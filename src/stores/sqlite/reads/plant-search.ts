import type { Database } from 'better-sqlite3'
import { INT64_MAX, INT64_MIN } from '../../../../contract/int64.ts'
import { known } from '../../../../contract/known.ts'
import { type PlantPage, SEARCH_MAX, type SearchRequest } from '../../../../service/plant-store.ts'
import { BATCH_TEXT_MAX } from '../../shared/page-limits.ts'
import { joinPlants } from '../../shared/rows.ts'
import { lastIdOf, PLANT_JSON, TEXT_BYTES } from './plant-json.ts'

/** How much of a search runs at once, unless one plant is larger. Takes a fraction of a millisecond. */
const SLICE_MAX = { plants: 1000, bytes: 2 ** 16 }

const buildMeasure = (condition: string) => `
  SELECT count(*) AS plants, sum(bytes) AS bytes, max(id) AS last
  FROM (SELECT id, ${TEXT_BYTES} AS bytes
        FROM plants WHERE ${condition} id >= ? ORDER BY id LIMIT ? + 0)`

// SQLite's lower changes only ASCII letters. LIKE would ignore their case too, but is slow for hostile names.
const buildMatch = (condition: string) => `
  SELECT ${PLANT_JSON} FROM plants
  WHERE ${condition} id >= ? AND id <= ? AND instr(lower(name), lower(?)) ORDER BY id LIMIT ? + 0`

export const MEASURE = buildMeasure('')
export const MEASURE_OF_TAG = buildMeasure('tag = +? AND')
const MATCH = buildMatch('')
const MATCH_OF_TAG = buildMatch('tag = +? AND')

/** A range of consecutive plants. */
interface Slice {
  readonly plants: number
  readonly bytes: number
  /** The greatest id; undefined if there are no plants. */
  readonly last: bigint | undefined
  /** Whether no plants follow. */
  readonly isLast: boolean
}

/** Reads in a group, and resolves to the result. */
export type Read = <Result>(read: () => Result) => Promise<Result>

/**
 * Prepares a function that searches plants by name. It reads small slices, between which other requests are served, and
 * finds the end of each slice without reading large plants.
 */
export function prepareSearch(
  db: Database,
  read: Read,
): (request: SearchRequest) => Promise<PlantPage> {
  const anyTag = prepareStatements(db, MEASURE, MATCH)
  const oneTag = prepareStatements(db, MEASURE_OF_TAG, MATCH_OF_TAG)

  return async ({ text, after, tag, limit }) => {
    const { measure, match } = tag === undefined ? anyTag : oneTag
    const tags = tag === undefined ? [] : [tag]
    const found: string[] = []
    const examined = { plants: 0, bytes: 0 }
    let foundText = 0
    let last = after
    while (last !== INT64_MAX && isWithin(examined, SEARCH_MAX) && foundText < BATCH_TEXT_MAX) {
      const from = last === undefined ? INT64_MIN : last + 1n
      const slice = await read(() => {
        const slice = findSlice((plants) =>
          toSlice(known(measure.get(...tags, from, plants)), plants),
        )
        if (slice.last !== undefined) {
          const wanted = limit + 1 - found.length
          for (const plant of match.all(...tags, from, slice.last, text, wanted)) {
            found.push(plant)
            foundText += plant.length
          }
        }
        return slice
      })
      if (found.length > limit) {
        const plants = found.slice(0, limit)
        return { json: joinPlants(plants), next: lastIdOf(plants) }
      }
      if (slice.isLast) return { json: joinPlants(found), next: undefined }
      examined.plants += slice.plants
      examined.bytes += slice.bytes
      last = slice.last
    }
    return { json: joinPlants(found), next: last === INT64_MAX ? undefined : last }
  }
}

function prepareStatements(db: Database, measure: string, match: string) {
  return {
    measure: db.prepare<unknown[], SliceRow>(measure),
    match: db.prepare<unknown[], string>(match).pluck(),
  }
}

/** Finds a slice that is within SLICE_MAX, or has one plant. */
function findSlice(measure: (plants: number) => Slice): Slice {
  let slice = measure(SLICE_MAX.plants)
  while (slice.bytes > SLICE_MAX.bytes && slice.plants > 1) {
    // As many as there would be if all had the same size.
    slice = measure(Math.max(1, Math.trunc((slice.plants * SLICE_MAX.bytes) / slice.bytes)))
  }
  return slice
}

function isWithin(examined: typeof SEARCH_MAX, limit: typeof SEARCH_MAX): boolean {
  return examined.plants < limit.plants && examined.bytes < limit.bytes
}

interface SliceRow {
  readonly plants: bigint
  readonly bytes: bigint | null
  readonly last: bigint | null
}

/** @param wanted how many plants the slice has unless it is the last one */
function toSlice({ plants, bytes, last }: SliceRow, wanted: number): Slice {
  return {
    plants: Number(plants),
    bytes: Number(bytes),
    last: last ?? undefined,
    isLast: plants < wanted,
  }
}
