/** Reading and repeating changes, for all suites. */
import { isDeepStrictEqual } from 'node:util'
import type { Change, ChangeFeed, ChangePage } from '../../service/store/change-feed.ts'
import type { StoredPlant } from '../../service/store/plant-store.ts'
import { byId } from './plants.ts'

/** Reads a page that the feed must have. */
export async function pageOf(
  feed: ChangeFeed,
  after: string | undefined,
  limit = 1000,
): Promise<ChangePage> {
  const page = await feed.readChanges({ after, limit })
  if (typeof page === 'string') throw new Error(`there is no page after ${after}: ${page}`)
  return page
}

/** The cursor at the end of the feed. */
export async function latest(feed: ChangeFeed): Promise<string> {
  return (await pageOf(feed, 'latest')).next
}

/** All changes after a cursor, or all that are kept. */
export async function changesAfter(
  feed: ChangeFeed,
  after?: string,
  limit?: number,
): Promise<Change[]> {
  const changes: Change[] = []
  let page = await pageOf(feed, after, limit)
  while (page.changes.length > 0) {
    changes.push(...page.changes)
    page = await pageOf(feed, page.next, limit)
  }
  return changes
}

/** What a change does, without when and where it did. */
export function contentOf({ type, id, plant }: Change): unknown[] {
  return plant === undefined ? [type, id] : [type, id, plant]
}

/**
 * Repeats changes.
 *
 * @param plants that were stored before
 * @returns the plants that are stored afterwards
 * @throws Error if a change has no effect, or its type does not describe the effect
 */
export function replay(
  changes: Iterable<Change>,
  plants: readonly StoredPlant[] = [],
): StoredPlant[] {
  const stored = new Map(plants.map((plant) => [plant.id, plant]))
  for (const { type, id, plant } of changes) {
    const before = stored.get(id)
    const after = plant && { id, ...plant }
    if (type !== typeOf(before, after)) throw new Error(`${id} cannot be ${type}`)
    if (after === undefined) stored.delete(id)
    else stored.set(id, after)
  }
  return byId(stored.values())
}

function typeOf(before: StoredPlant | undefined, after: StoredPlant | undefined) {
  if (isDeepStrictEqual(before, after)) return undefined
  if (before === undefined) return 'created'
  return after === undefined ? 'removed' : 'changed'
}

/** Resolves once a check passes, which is tried again after each commit. */
export async function eventually(
  feed: ChangeFeed,
  check: () => boolean | Promise<boolean>,
): Promise<void> {
  for (;;) {
    const committed = feed.nextCommit()
    if (await check()) return
    await committed
  }
}
