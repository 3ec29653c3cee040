import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import { INT64_MAX } from '../../core/json/int64.ts'
import { known } from '../../core/known.ts'
import type { Filter } from './filter.ts'
import { idAfter } from './plant-id.ts'
import { PAGE_SIZE } from './plant-list.ts'

/** At least as many rows as a large screen shows. */
export const LAST_ROWS = 50

/** How much further from the first plant each guess is than the last plant found so far. */
const GROWTH = 16n

/** The plants that follow an id, unless there are too many. */
interface Rest {
  readonly plants: readonly StoredPlant[]
  readonly isAll: boolean
}

/**
 * Finds the last plants that a filter selects: at least LAST_ROWS, or all of them. The service lists plants in ascending
 * order only, so this searches for an id that few plants follow. Among a million plants, it takes a dozen round trips.
 *
 * @throws what `PlantStoreClient.listPlants` throws
 */
export async function findLastPlants(
  client: Pick<PlantStoreClient, 'listPlants'>,
  filter: Filter,
  signal: AbortSignal,
): Promise<readonly StoredPlant[]> {
  const read = async (after?: bigint): Promise<Rest> => {
    const query = { ...filter, limit: PAGE_SIZE, ...(after !== undefined && { after }) }
    let page = await client.listPlants(query, { signal })
    const plants = [...page.plants]
    // The pages of a search can be almost empty.
    while (page.next !== undefined && plants.length < PAGE_SIZE) {
      page = await page.next({ signal })
      plants.push(...page.plants)
    }
    return { plants, isAll: page.next === undefined }
  }
  const isFound = ({ plants, isAll }: Rest) => isAll && plants.length >= LAST_ROWS

  let rest = await read()
  if (rest.isAll) return rest.plants
  const first = known(rest.plants[0]).id
  // More than a page follow `low`. Fewer than LAST_ROWS follow `high`.
  let [low, high] = [first, INT64_MAX]
  while (!rest.isAll) {
    const reached = known(rest.plants.at(-1)).id
    const guess = first + GROWTH * (reached - first)
    if (guess >= INT64_MAX) break
    rest = await read(guess)
    if (isFound(rest)) return rest.plants
    if (rest.isAll) high = guess
    else low = guess
  }
  // At once, because the way to the service takes longer than a page.
  while (high - low > 1n) {
    const step = (high - low) / 4n
    const guesses = [low + step, low + 2n * step, high - step].map((guess) =>
      guess > low ? guess : low + 1n,
    )
    const rests = await Promise.all(guesses.map(read))
    const found = rests.find(isFound)
    if (found !== undefined) return found.plants
    const end = rests.findIndex(({ isAll }) => isAll)
    low = (end < 0 ? guesses.at(-1) : guesses[end - 1]) ?? low
    high = guesses[end] ?? high
  }
  // Plants have been deleted meanwhile.
  return findLastPlants(client, filter, signal)
}

/** How long a person waits for a suggestion, at most, in milliseconds. */
const SUGGESTION_MS = 2000

/** The id after that of the last plant. Undefined if there is none, or it is not found in time. */
export async function suggestId(
  client: Pick<PlantStoreClient, 'listPlants'>,
): Promise<bigint | undefined> {
  try {
    const plants = await findLastPlants(client, {}, AbortSignal.timeout(SUGGESTION_MS))
    return idAfter(plants.at(-1)?.id ?? 0n)
  } catch {
    // The person can type one.
    return undefined
  }
}
