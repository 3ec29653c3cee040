import DataLoader from 'dataloader'
import { INT64_MAX, INT64_MIN } from '../../../../contract/int64.ts'
import { plantJson } from '../../../../service/plant-content.ts'
import type { PageRequest, PlantPage, StoredPlant } from '../../../../service/plant-store.ts'
import { type AcquireSlot, SHORT_READ } from '../../../../service/short-read.ts'
import { type ReadLimit, readLimited, TOO_LONG, UNLIMITED } from '../../shared/limited-read.ts'
import { BATCH_TEXT_MAX, EXPORT_BATCH_SIZE } from '../../shared/page-limits.ts'
import { joinPlants, PLANT_COLUMNS, type PlantRow, toPlant } from '../../shared/rows.ts'
import type { Run } from '../connection/pooled-client.ts'
import { columnsIf, isRead, type LimitedRow, TEXT } from './plant-columns.ts'

interface PlantPageRow extends PlantRow {
  /** The number of plants that the page would have without the limit on text. */
  readonly found: bigint
}

/**
 * A query for a page of plants by id. Its parameters are the first possible id, the number of plants, the limit on
 * text, the text that may be read, and the tag if the condition uses it. The page ends with the plant that reaches the
 * limit on text.
 */
function buildPageQuery(condition: string): string {
  return `
    SELECT ${columnsIf('total <= $4')}, found
    FROM (
      SELECT *, count(*) OVER () AS found, sum(text) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS total
      FROM (
        SELECT ${PLANT_COLUMNS}, ${TEXT} AS text
        FROM plants WHERE ${condition} AND id >= $1 ORDER BY id LIMIT $2
      ) AS page
    ) AS measured
    WHERE total - text < $3
    ORDER BY id`
}

const PAGE = buildPageQuery('true')
const PAGE_OF_TAG = buildPageQuery(hasTag('$5'))
const PAGE_OF_IDS = buildPageQuery('id = ANY($5::int8[])')

/** A condition for plants with a tag. The index has only the hash, so the tag itself is compared too. */
export function hasTag(parameter: string): string {
  return `md5(tag) = md5(${parameter}) AND tag = ${parameter}`
}

/** See PlantStore.list. */
export function listPlants(
  run: Run,
  request: PageRequest,
  acquireSlot?: AcquireSlot,
): Promise<PlantPage> {
  return readPage(run, request, acquireSlot)
}

/** See PlantStore.getAll. */
export function getPlants(
  run: Run,
  ids: readonly bigint[],
  acquireSlot?: AcquireSlot,
): Promise<PlantPage> {
  return readPage(run, { ids, limit: ids.length }, acquireSlot)
}

async function readPage(
  run: Run,
  request: RowsRequest,
  acquireSlot?: AcquireSlot,
): Promise<PlantPage> {
  const rows = await readLimited(acquireSlot, (max) => readRows(run, request, max))
  return toPage(rows)
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
  { after, tag, ids, limit }: RowsRequest,
  max: ReadLimit,
): Promise<PlantRows | typeof TOO_LONG> {
  if (after === INT64_MAX) return { rows: [], next: undefined }
  const from = after === undefined ? INT64_MIN : after + 1n
  const values = [from, Math.min(limit, max.rows) + 1, BATCH_TEXT_MAX, max.text]
  const found =
    ids !== undefined
      ? await run<LimitedRow<PlantPageRow>>(PAGE_OF_IDS, [...values, ids])
      : tag === undefined
        ? await run<LimitedRow<PlantPageRow>>(PAGE, values)
        : await run<LimitedRow<PlantPageRow>>(PAGE_OF_TAG, [...values, tag])
  const rows = found.slice(0, limit)
  if (!rows.every(isRead) || rows.length > max.rows) return TOO_LONG
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
    if (text >= BATCH_TEXT_MAX)
      return { json: joinPlants(plants), next: rows[plants.length - 1]?.id }
    const plant = plantJson(row)
    plants.push(plant)
    text += plant.length
  }
  return { json: joinPlants(plants), next }
}

/** All plants by id, in batches. A consistent export needs a `run` within a snapshot. */
export async function* exportPlants(run: Run): AsyncGenerator<StoredPlant[], void> {
  let after: bigint | undefined
  do {
    const request = { after, limit: EXPORT_BATCH_SIZE }
    const { rows, next } = await readLimited(undefined, (max) => readRows(run, request, max))
    if (rows.length > 0) yield rows.map(toPlant)
    after = next
  } while (after !== undefined)
}

/** Limits the memory that the results take. Larger batches are not faster. */
const READ_BATCH_SIZE = 100

/** A query for plants by id. Its parameters are the ids and the text that may be read of each. */
const PLANTS = `
  SELECT ${columnsIf(`${TEXT} <= $2::int8`)}
  FROM plants WHERE id = ANY($1::int8[])`

/**
 * Prepares PlantStore.get. Ids requested in one turn of the event loop share a statement, unless they are long reads. No
 * result is shared: a request can begin after a commit that the read of another does not see.
 */
export function pointReads(
  run: Run,
): (id: bigint, acquireSlot?: AcquireSlot) => Promise<StoredPlant | undefined> {
  const findAll = async (ids: readonly bigint[]) => {
    const rows = await run<LimitedRow<PlantRow>>(PLANTS, [ids, SHORT_READ.text])
    const found = new Map<bigint, StoredPlant | typeof TOO_LONG>()
    for (const row of rows) found.set(row.id, isRead(row) ? toPlant(row) : TOO_LONG)
    return ids.map((id) => found.get(id))
  }
  const loader = new DataLoader(findAll, {
    cache: false,
    maxBatchSize: READ_BATCH_SIZE,
    batchScheduleFn: (dispatch) => setImmediate(dispatch),
  })
  return async (id, acquireSlot) => {
    const plant = await loader.load(id)
    if (plant !== TOO_LONG) return plant
    await acquireSlot?.()
    const [row] = await run<PlantRow>(PLANTS, [[id], UNLIMITED.text])
    return row && toPlant(row)
  }
}
