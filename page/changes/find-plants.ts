import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { limits } from '../../core/generated/limits.gen.ts'

/** The contract's limit on the number of ids in a request. */
export const IDS_MAX = limits.listPlants.id.maxItems

/** The contract's limit on the number of plants in a page. */
export const PAGE_SIZE = limits.listPlants.limit.maximum

/** How many requests to make at once. A browser has six connections to a service, and one of them follows the changes. */
export const REQUESTS_MAX = 5

/** The stored plants that have some ids. */
export async function findPlants(
  client: Pick<PlantStoreClient, 'plants'>,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<ReadonlyMap<bigint, StoredPlant>> {
  const stored = new Map<bigint, StoredPlant>()
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const id = ids.slice(start, start + IDS_MAX)
    for await (const plant of client.plants({ id }, { signal })) stored.set(plant.id, plant)
  }
  return stored
}
