import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import { members } from '../../core/members/members.gen.ts'
import { type PageReader, pageReader } from '../../service/page-reader.ts'
import {
  isConsistent,
  type MirrorRestriction,
  type RestrictionStep,
} from '../../service/restriction.ts'
import type { Plant, PlantChange, PlantStore } from '../../service/store/plant-store.ts'
import { type FeedPage, type MirrorSource, PAGE_SIZE, type PlantPage } from './source.ts'

/** A mirror that has not copied all plants. */
export type PartialMirror = MirrorRestriction & { readonly copyFrom: bigint }

/** Of the plants that a copy finds in the mirror, only the ids matter. */
const readPage = pageReader(members)

/** A step of a mirror to its next state. */
export type MirrorStep = RestrictionStep & { readonly next: MirrorRestriction }

/**
 * Prepares a step that copies the plants in a range of ids, and removes others there, which are from an earlier copy. It
 * also applies a page of changes to the plants copied so far, so that the cursor does not expire during a long copy, and
 * a source that is restored meanwhile is noticed.
 *
 * @param limit how many plants and changes to read; with 1, the step makes one change at most
 */
export async function prepareCopyStep(
  expected: PartialMirror,
  source: MirrorSource,
  store: Pick<PlantStore, 'list'>,
  limit = PAGE_SIZE,
): Promise<MirrorStep & { readonly copied: number }> {
  const { copyFrom } = expected
  const after = copyFrom === INT64_MIN ? undefined : copyFrom - 1n
  const [theirs, ours, feed] = await Promise.all([
    source.readPlants(after, limit),
    listPlants(store, readPage, after, limit),
    source.readChanges(expected.cursor, 0, limit),
  ])
  const [end = INT64_MAX, ourEnd = INT64_MAX] = [theirs.next, ours.next]
  const isChangeOnly = limit === 1 && feed.changes.length > 0
  const through = isChangeOnly ? copyFrom - 1n : end < ourEnd ? end : ourEnd
  const isCovered = ({ id }: { readonly id: bigint }) => id <= through
  const present = ours.plants.filter(isCovered)
  const copied = theirs.plants.filter(isCovered)
  const plants = new Map<bigint, Plant | undefined>([
    ...present.map(({ id }) => [id, undefined] as const),
    ...copied.map((plant) => [plant.id, plant] as const),
    ...feed.changes.filter(isCovered).map(({ id, plant }) => [id, plant] as const),
  ])
  const state =
    through < INT64_MAX ? { copyFrom: through + 1n } : await findConsistency(source, feed.cursor)
  const next = { source: source.url, cursor: feed.cursor, ...state }
  return { expected, next, changes: toChanges(plants), copied: copied.length }
}

/**
 * Reads some of the plants of a mirror with a greater id, or the first ones.
 *
 * @throws StoreUnavailable
 */
export async function listPlants(
  store: Pick<PlantStore, 'list'>,
  readPage: PageReader,
  after: bigint | undefined,
  limit = PAGE_SIZE,
): Promise<PlantPage> {
  const page = await store.list({ after, limit })
  return { plants: readPage(page), next: page.next }
}

/** Must be called after the last plant was read. */
async function findConsistency(
  source: MirrorSource,
  cursor: string,
): Promise<Partial<MirrorRestriction>> {
  const { cursor: consistentAt } = await source.readChanges('latest')
  return consistentAt === cursor ? {} : { consistentAt }
}

/**
 * Prepares a step that applies changes to a mirror that has copied all plants.
 *
 * @param next the mirror after the step
 */
export function prepareFollowStep(
  expected: MirrorRestriction,
  next: MirrorRestriction,
  changes: FeedPage['changes'],
): MirrorStep {
  const plants = new Map(changes.map(({ id, plant }) => [id, plant]))
  const step = { expected, next, changes: toChanges(plants) }
  if (!isConsistent(expected)) return step
  const firstTypes = new Map(changes.toReversed().map(({ id, type }) => [id, type]))
  let [created, removed] = [0, 0]
  for (const [id, plant] of plants) {
    const isNew = firstTypes.get(id) === 'created'
    if (isNew && plant !== undefined) created++
    if (!isNew && plant === undefined) removed++
  }
  return { ...step, effect: { created, removed } }
}

/** Plants without content are to be removed. */
function toChanges(plants: ReadonlyMap<bigint, Plant | undefined>): PlantChange[] {
  return Array.from(plants, ([id, plant]) =>
    plant ? { ...plant, id, type: 'put' } : { type: 'remove', id },
  )
}
