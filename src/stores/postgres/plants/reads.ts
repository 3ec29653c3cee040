import DataLoader from 'dataloader'
import { assertReadable, readRestriction } from '../../../../service/restriction.ts'
import { plantJson } from '../../../../service/store/plant-content.ts'
import {
  PAGE_TEXT_MAX,
  type PageRequest,
  type PlantPage,
  type StoredPlant,
} from '../../../../service/store/plant-store.ts'
import { EXPORT_BATCH_SIZE } from '../../shared/page-limits.ts'
import {
  byDirection,
  type Direction,
  firstAfter,
  inDirection,
} from '../../shared/reads/direction.ts'
import { PLANT_COLUMNS, type PlantRow, pageOf, toPlant } from '../../shared/rows.ts'
import { CAN_READ, MARK } from '../connection/permissions.ts'
import type { Run } from '../connection/pooled-client.ts'
import { findRecord } from '../records/records.ts'
import { TEXT } from './plant-columns.ts'

interface PlantPageRow extends PlantRow {
  /** The number of plants that the page would have without the limit on text. */
  readonly found: bigint
}

/**
 * A query for a page of plants by id. Its parameters are the first possible id, the number of plants, the limit on
 * text, and the tag if the condition uses it. The page ends with the plant that reaches the limit on text.
 */
function buildPageQuery(condition: string, { order, from }: Direction): string {
  return `
    SELECT ${PLANT_COLUMNS}, found
    FROM (
      SELECT *, count(*) OVER () AS found, sum(text) OVER (ORDER BY id ${order} ROWS UNBOUNDED PRECEDING) AS total
      FROM (
        SELECT ${PLANT_COLUMNS}, ${TEXT} AS text
        FROM plants WHERE ${condition} AND id ${from} $1 AND ${CAN_READ} ORDER BY id ${order} LIMIT $2
      ) AS page
    ) AS measured
    WHERE total - text < $3
    ORDER BY id ${order}`
}

const PAGES = byDirection((direction) => ({
  any: buildPageQuery('true', direction),
  ofTag: buildPageQuery(hasTag('$4'), direction),
  ofIds: buildPageQuery('id = ANY($4::int8[])', direction),
}))

/** A condition for plants with a tag. The index has only the hash, so the tag itself is compared too. */
export function hasTag(parameter: string): string {
  return `md5(tag) = md5(${parameter}) AND tag = ${parameter}`
}

/** See PlantStore.list. */
export async function listPlants(run: Run, request: PageRequest): Promise<PlantPage> {
  return toPage(await readRows(run, request))
}

/** See PlantStore.getAll. */
export async function getPlants(run: Run, ids: readonly bigint[]): Promise<PlantPage> {
  return toPage(await readRows(run, { ids, limit: ids.length }))
}

interface RowsRequest extends PageRequest {
  /** Return only plants with these ids. Cannot be combined with a tag. */
  readonly ids?: readonly bigint[]
}

interface PlantRows {
  readonly rows: readonly PlantRow[]
  /** The id after which the next rows begin; undefined if none follow. */
  readonly next: bigint | undefined
}

async function readRows(
  run: Run,
  { after, isDescending, tag, ids, limit }: RowsRequest,
): Promise<PlantRows> {
  const from = firstAfter(after, isDescending)
  if (from === undefined) return { rows: [], next: undefined }
  const { any, ofTag, ofIds } = inDirection(PAGES, isDescending)
  const values = [from, limit + 1, PAGE_TEXT_MAX]
  const found =
    ids !== undefined
      ? await run<PlantPageRow>(ofIds, [...values, ids])
      : tag === undefined
        ? await run<PlantPageRow>(any, values)
        : await run<PlantPageRow>(ofTag, [...values, tag])
  const rows = found.slice(0, limit)
  const isLast = Number(found[0]?.found ?? 0) === rows.length
  return { rows, next: isLast ? undefined : rows.at(-1)?.id }
}

/**
 * A page ends early if its JSON is very long: JSON can have six times the length of the text that a statement limits,
 * because it escapes characters.
 */
export function toPage({ rows, next }: PlantRows): PlantPage {
  const plants: string[] = []
  let text = 0
  for (const row of rows) {
    if (text >= PAGE_TEXT_MAX) return pageOf(plants, rows[plants.length - 1]?.id)
    const plant = plantJson(row)
    plants.push(plant)
    text += plant.length
  }
  return pageOf(plants, next)
}

/** All plants by id, in batches. A consistent export needs a `run` within a snapshot. */
export async function* exportPlants(
  run: Run,
  readsIncomplete: boolean,
): AsyncGenerator<StoredPlant[], void> {
  // CAN_READ would not do, because it can be newer than the snapshot.
  if (readsIncomplete) await run(MARK)
  else assertReadable(await readRestriction({ findRecord: (...of) => findRecord(run, ...of) }))
  let after: bigint | undefined
  do {
    const { rows, next } = await readRows(run, { after, limit: EXPORT_BATCH_SIZE })
    if (rows.length > 0) yield rows.map(toPlant)
    after = next
  } while (after !== undefined)
}

/** Limits the memory that the results take. Larger batches are not faster. */
const READ_BATCH_SIZE = 100

const PLANTS = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ANY($1::int8[]) AND ${CAN_READ}`

/**
 * Prepares PlantStore.get. Ids requested in one turn of the event loop share a statement. No result is shared: a request
 * can begin after a commit that the read of another does not see.
 */
export function pointReads(run: Run): (id: bigint) => Promise<StoredPlant | undefined> {
  const findAll = async (ids: readonly bigint[]) => {
    const rows = await run<PlantRow>(PLANTS, [ids])
    const found = new Map(rows.map((row) => [row.id, toPlant(row)]))
    return ids.map((id) => found.get(id))
  }
  const loader = new DataLoader(findAll, {
    cache: false,
    maxBatchSize: READ_BATCH_SIZE,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  })
  return (id) => loader.load(id)
}
