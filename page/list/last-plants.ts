import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { INT64_MAX } from '../../core/json/int64.ts'
import type { Filter } from './filter.ts'

/** At least as many rows as a large screen shows. */
const LAST_ROWS = 50

/**
 * Finds the last plants that a filter selects, in the order of their ids.
 *
 * @throws what `PlantStoreClient.listPlants` throws
 */
export async function findLastPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly StoredPlant[]> {
  let page = await client.listPlants({ ...filter, sort: '-id', limit: LAST_ROWS }, { signal })
  const plants = [...page.plants]
  // The pages of a search can be almost empty.
  while (page.next !== undefined && plants.length < LAST_ROWS) {
    page = await page.next({ signal })
    plants.push(...page.plants)
  }
  return plants.slice(0, LAST_ROWS).reverse()
}

/** How long a person waits for a suggestion, at most, in milliseconds. */
const SUGGESTION_MS = 2000

/** The id after that of the last plant. Undefined if there is none, or it is not found in time. */
export async function suggestId(
  client: Pick<PlantStoreClient, 'listPlants'>,
): Promise<bigint | undefined> {
  try {
    const signal = AbortSignal.timeout(SUGGESTION_MS)
    const { plants } = await client.listPlants({ sort: '-id', limit: 1 }, { signal })
    return idAfter(plants[0]?.id ?? 0n)
  } catch {
    // The person can type one.
    return undefined
  }
}

/** The next id. Undefined after the last one. */
export function idAfter(id: bigint): bigint | undefined {
  return id === INT64_MAX ? undefined : id + 1n
}
