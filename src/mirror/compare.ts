import type { Member } from '../../core/members/members.ts'
import { pageReader } from '../../service/page-reader.ts'
import { hasSameContent } from '../../service/store/plant-content.ts'
import type { PlantStore, StoredPlant } from '../../service/store/plant-store.ts'
import type { Source } from './source.ts'
import { listPlants } from './steps.ts'

/** How a plant of a mirror differs from that of the source. */
export type Difference = 'missing here' | 'missing at the source' | 'different content'

export interface Comparison {
  /** How many plants are the same. */
  readonly equal: number
  /** How many plants differ, but have changed at the source after the mirror's cursor. */
  readonly changed: number
  /** The other plants that differ, in the order of their ids. If there are too many, only the first ones. */
  readonly differences: ReadonlyMap<bigint, Difference>
}

export interface ComparisonOptions {
  /** The cursor of the mirror, read before the call. */
  readonly cursor: string
  readonly mirror: Pick<PlantStore, 'list'>
  /** The members of the mirror's plants, which are compared. */
  readonly members: readonly Member[]
  readonly source: Pick<Source, 'readPlants' | 'readChanges'>
  /** The maximum number of differences in memory. */
  readonly differencesMax?: number
  /** Receives the number of equal plants so far. */
  readonly onProgress: (equal: number) => void
}

/** Some 100 MB. */
const DIFFERENCES_MAX = 1_000_000

/**
 * Compares the plants of a mirror and of its source while they change. Every read sees at least the changes up to the
 * cursor. So a plant that differs has changed at the source after the cursor, or the mirror is wrong.
 *
 * A snapshot of the mirror is not needed, and would keep its database from cleaning up.
 */
export async function compareMirror({
  cursor,
  mirror,
  members,
  source,
  differencesMax = DIFFERENCES_MAX,
  onProgress,
}: ComparisonOptions): Promise<Comparison> {
  // Fails at once if the source refuses the token or the cursor.
  await source.readChanges(cursor)
  const differences = new Map<bigint, Difference>()
  const readPage = pageReader(members)
  const ours = readAll((after) => listPlants(mirror, readPage, after))
  const theirs = readAll((after) => source.readPlants(after))
  let [equal, changed] = [0, 0]
  let our = (await ours.next()).value
  let their = (await theirs.next()).value
  while (our || their) {
    if (differences.size === differencesMax) {
      changed += await removeChanged(differences, source, cursor)
      if (differences.size > 0) return { equal, changed, differences }
    }
    if (our && their && our.id === their.id) {
      if (hasSameContent(our, their)) onProgress(++equal)
      else differences.set(our.id, 'different content')
      our = (await ours.next()).value
      their = (await theirs.next()).value
    } else if (our && !(their && their.id < our.id)) {
      differences.set(our.id, 'missing at the source')
      our = (await ours.next()).value
    } else if (their) {
      differences.set(their.id, 'missing here')
      their = (await theirs.next()).value
    }
  }
  changed += await removeChanged(differences, source, cursor)
  return { equal, changed, differences }
}

async function* readAll(readPage: Source['readPlants']): AsyncGenerator<StoredPlant, undefined> {
  let after: bigint | undefined
  do {
    const { plants, next } = await readPage(after)
    yield* plants
    after = next
  } while (after !== undefined)
}

/** Removes the plants that have changed after a cursor. Resolves to their number. */
async function removeChanged(
  differences: Map<bigint, Difference>,
  source: Pick<Source, 'readChanges'>,
  cursor: string,
): Promise<number> {
  const found = differences.size
  // Reading until there are no more changes could take forever.
  const { cursor: end } = await source.readChanges('latest')
  if (found === 0 || cursor === end) return 0
  let after = cursor
  let isEnd = false
  while (!isEnd && differences.size > 0) {
    const page = await source.readChanges(after)
    for (const { id } of page.changes) differences.delete(id)
    isEnd = page.changes.length === 0 || page.changes.some(({ cursor }) => cursor === end)
    after = page.cursor
  }
  return found - differences.size
}
