import type { Page, PageRequest, StoredPlant } from '../../../service/plant-store.ts'
import { MAX_INT64, MIN_INT64 } from '../../contract/int64.ts'
import { type PlantRow, plantOf } from '../plant-row.ts'
import { EXPORT_BATCH_SIZE, MAX_TEXT } from '../read-limits.ts'
import type { Connections, Run } from './connections.ts'

interface PageRow extends PlantRow {
  /** How many plants the page would have if none of them were large. */
  readonly found: bigint
}

/**
 * A page from an id on, which ends where its text would be too much. With `$1` the id, `$2` how many
 * plants, `$3` how much text and `$4` the tag, if there is one.
 */
function pageOf(which: string): string {
  return `
    SELECT id, name, tag, found
    FROM (
      SELECT id, name, tag, count(*) OVER () AS found,
             sum(octet_length(name) + coalesce(octet_length(tag), 0))
               OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT id, name, tag FROM plants WHERE ${which} AND id >= $1 ORDER BY id LIMIT $2) AS page
    ) AS measured
    WHERE before IS NULL OR before < $3
    ORDER BY id`
}

const PAGE = pageOf('true')
// The hash is what the index has, and the comparison is exact.
const PAGE_OF_TAG = pageOf('md5(tag) = md5($4) AND tag = $4')

/** As PlantStore has it. */
export async function listPlants(run: Run, { after, tag, limit }: PageRequest): Promise<Page> {
  if (after === MAX_INT64) return { plants: [], more: false }
  const from = after === undefined ? MIN_INT64 : after + 1n
  const values = [from, limit + 1, MAX_TEXT]
  const rows =
    tag === undefined
      ? await run<PageRow>(PAGE, values)
      : await run<PageRow>(PAGE_OF_TAG, [...values, tag])
  const plants = rows.slice(0, limit).map(plantOf)
  return { plants, more: Number(rows[0]?.found ?? 0) > plants.length }
}

/** All plants of one moment, by id. */
export async function* exportPlants(run: Run): AsyncGenerator<StoredPlant[], void> {
  let page: Page = { plants: [], more: true }
  while (page.more) {
    const after = page.plants.at(-1)?.id
    page = await listPlants(run, { after, limit: EXPORT_BATCH_SIZE })
    if (page.plants.length > 0) yield page.plants
  }
}

/** Large plants in one answer would take memory; more of them at a time gain nothing. */
const READ_BATCH_SIZE = 100

interface Asked {
  readonly id: bigint
  readonly resolve: (plant: StoredPlant | undefined) => void
  readonly reject: (error: unknown) => void
}

/** Finds plants: those that are asked for in one turn of the event loop with one statement. */
export class PointReads {
  readonly #connections: Connections
  #asked: Asked[] = []

  constructor(connections: Connections) {
    this.#connections = connections
  }

  /** @throws StoreUnavailable if it cannot be read now */
  find(id: bigint): Promise<StoredPlant | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => this.#findAll())
      this.#asked.push({ id, resolve, reject })
    })
  }

  #findAll(): void {
    const asked = this.#asked
    this.#asked = []
    for (let from = 0; from < asked.length; from += READ_BATCH_SIZE) {
      this.#findTogether(asked.slice(from, from + READ_BATCH_SIZE))
    }
  }

  async #findTogether(asked: readonly Asked[]): Promise<void> {
    try {
      const rows = await this.#connections.query<PlantRow>(
        'SELECT id, name, tag FROM plants WHERE id = ANY($1::int8[])',
        [asked.map(({ id }) => id)],
      )
      const found = new Map(rows.map((row) => [row.id, plantOf(row)]))
      for (const { id, resolve } of asked) resolve(found.get(id))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }
}
