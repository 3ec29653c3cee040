import type { Page, PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import { type Filter, matches } from '../list/filter.ts'
import { idBefore } from '../list/plant-id.ts'
import { MEMORY_MAX, memoryOf } from '../model/memory.ts'
import type { IdRange, IdRanges } from './id-ranges.ts'

const { id: ids, limit } = limits.listPlants

/** The selected plants would take too much memory. */
export class TooManyPlants extends Error {
  constructor() {
    super(
      'These are too many plants to change at once. Select fewer, such as those of one tag or one search.',
    )
  }
}

export interface ReadOptions {
  readonly signal: AbortSignal
  /** Called after each request with the number of plants so far. */
  readonly onProgress: (plants: number) => void
  /** Limits the memory for the plants, in characters. */
  readonly memoryMax?: number
}

/**
 * Reads the plants of a filter whose ids are in some ranges, in id order. Changes by others meanwhile can be included or
 * missed.
 *
 * @throws TooManyPlants, the reason of the signal, and what `PlantStoreClient.listPlants` throws
 */
export async function readSelected(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  ranges: IdRanges,
  { signal, onProgress, memoryMax = MEMORY_MAX }: ReadOptions,
): Promise<readonly StoredPlant[]> {
  const selected: StoredPlant[] = []
  let memory = 0
  for await (const plants of readPages(client, filter, ranges, signal)) {
    for (const plant of plants) memory += memoryOf(plant)
    if (memory > memoryMax) throw new TooManyPlants()
    selected.push(...plants)
    onProgress(selected.length)
  }
  return selected.sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function* readPages(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  ranges: IdRanges,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredPlant[], void> {
  const short: bigint[] = []
  for (const range of ranges) {
    // A search for a few plants could examine all that follow them.
    if (range.to - range.from < ids.maxItems) short.push(...idsOf(range))
    else yield* readRange(client, filter, range, signal)
  }
  for (let start = 0; start < short.length; start += ids.maxItems) {
    const id = short.slice(start, start + ids.maxItems)
    for await (const { plants } of pages(client.listPlants({ id }, { signal }), signal)) {
      yield plants.filter((plant) => matches(plant, filter))
    }
  }
}

async function* readRange(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  { from, to }: IdRange,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredPlant[], void> {
  const after = idBefore(from)
  const query = { ...filter, limit: limit.maximum, ...(after !== undefined && { after }) }
  for await (const { plants } of pages(client.listPlants(query, { signal }), signal)) {
    yield plants.filter(({ id }) => id <= to)
    const last = plants.at(-1)
    if (last !== undefined && last.id >= to) return
  }
}

/** A page and those that follow it. */
async function* pages(first: Promise<Page>, signal: AbortSignal): AsyncGenerator<Page, void> {
  let page: Page | undefined = await first
  while (page !== undefined) {
    yield page
    page = await page.next?.({ signal })
  }
}

function idsOf({ from, to }: IdRange): bigint[] {
  return Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index))
}
