import type {
  PlantChange,
  PlantStoreClient,
  StoredPlant,
  TaggedPlant,
} from '../../../client/client.ts'
import { hasCondition } from '../../../client/errors.ts'
import { hasSameContent, pickContent } from '../../model/members.ts'
import type { Item } from './comparison.ts'

/** A browser has six connections to a service, and one of them follows the changes. */
const REQUESTS_MAX = 5

/** A record that is to replace a plant. */
export interface SeenItem extends Item {
  /** The plant as the person has seen it. */
  readonly seen: StoredPlant
  /** Whether it was sent before, and its response was lost. */
  readonly isSent?: boolean
}

/** A plant that can be replaced. */
interface Replacement extends SeenItem {
  /** The version that the person has seen. */
  readonly etag: string
}

/** What has become of plants that are to be replaced. */
export interface Sorted {
  /** Still as the person has seen them. */
  readonly ready: readonly Replacement[]
  /** Already as in the file. */
  readonly done: readonly SeenItem[]
  /** Changed by others since the person has seen them. `other` is undefined if the plant no longer exists. */
  readonly changed: readonly (SeenItem & { readonly other: StoredPlant | undefined })[]
}

/**
 * Finds the plants that are still as the person has seen them. Fetches one by one, because only such reads tell the
 * version.
 *
 * @throws what `PlantStoreClient.getPlant` throws, unless the plant does not exist
 */
export async function sortReplacements(
  client: Pick<PlantStoreClient, 'getPlant'>,
  items: readonly SeenItem[],
  signal: AbortSignal,
): Promise<Sorted> {
  const stored = await fetchAll(client, items, signal)
  const ready: Replacement[] = []
  const done: SeenItem[] = []
  const changed: (SeenItem & { other: StoredPlant | undefined })[] = []
  for (const [index, item] of items.entries()) {
    const { plant: other, etag = '' } = stored[index] ?? {}
    if (hasSameContent(other, item.plant)) done.push(item)
    else if (hasSameContent(other, item.seen)) ready.push({ ...item, etag })
    else changed.push({ ...item, other })
  }
  return { ready, done, changed }
}

/** The plants of some records in their order; undefined for those that do not exist. */
async function fetchAll(
  client: Pick<PlantStoreClient, 'getPlant'>,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<readonly (TaggedPlant | undefined)[]> {
  const fetched: (TaggedPlant | undefined)[] = []
  const queue = items.entries()
  // The first failure ends the other requests.
  const failure = new AbortController()
  const either = AbortSignal.any([signal, failure.signal])
  const work = async () => {
    for (const [index, { plant }] of queue) {
      try {
        fetched[index] = await client.getPlant(plant.id, { signal: either })
      } catch (error) {
        if (!hasCondition(error, 'plant-not-found')) throw error
      }
    }
  }
  try {
    await Promise.all(Array.from({ length: REQUESTS_MAX }, work))
  } catch (error) {
    failure.abort(error)
    throw error
  }
  return fetched
}

/** The change that replaces a plant, unless others have changed it since it was fetched. */
export function toChange({ plant, etag }: Replacement): PlantChange {
  return { op: 'replace', id: plant.id, ...pickContent(plant), ifMatch: etag }
}
