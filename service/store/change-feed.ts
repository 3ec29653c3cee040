import type { components } from '../../core/generated/api.gen.ts'
import type { Plant } from './plant-content.ts'

type Schemas = components['schemas']

/** A committed change to one plant. */
export type Change =
  | (Omit<Schemas['ChangeWithPlant'], 'plant'> & { readonly plant: Plant })
  | (Schemas['Removal'] & { readonly plant?: never })

export interface ChangesRequest {
  /** Return only changes after this cursor. `latest` is the end of the feed; undefined starts at the oldest change. */
  readonly after?: string | undefined
  /** The maximum number of changes, at least 1. */
  readonly limit: number
}

export interface ChangePage {
  readonly changes: readonly Change[]
  /** The cursor after the last change of the page. For an empty page, that of the request or an equivalent one. */
  readonly next: string
}

/**
 * Why there are no changes to return:
 * - `malformed`: no feed has issued the cursor;
 * - `expired`: changes after the cursor may be missing, because they are no longer retained, or because the database was
 *   restored.
 */
export type NoChanges = 'malformed' | 'expired'

/**
 * The feed of all changes to plants, which is part of the database. A change enters it in its own transaction.
 *
 * Each change that a PlantStore has acknowledged is in the feed exactly once. Requests that change nothing do not
 * appear: replays, updates to the same content, lists that are refused. Repeating the changes in order, from an empty
 * store or from an export with its cursor, yields the plants in the store.
 *
 * The changes to each plant are in the order in which they were made, and a change that was acknowledged before another
 * was requested comes first. A change with `endsTransaction` is the end of a transaction, or of a complete list within
 * one. The last change of a list has it, unless changes of other lists in the same transaction are interleaved and follow.
 * The last change of the feed always has it.
 *
 * Cursors are opaque, in the characters of base64url. They stay valid when the store is reopened, and on every process
 * that shares the database. If the feed has lost changes up to the cursor, as after a restore, the cursor is `expired`.
 */
export interface ChangeFeed {
  /**
   * Resolves to the changes after a cursor, in order. The cost is independent of the position and of the number of
   * changes. A page can have fewer changes than the limit, but has at least one if there are any. A change is returned only once it would survive a failure, as PlantStore's durability demands. After `latest`,
   * there is always a page.
   *
   * @throws StoreUnavailable
   */
  readChanges(request: ChangesRequest): Promise<ChangePage | NoChanges>

  /**
   * Resolves soon after the next commit by any process that may have made changes: within 50 ms on SQLite, within
   * 500 ms on PostgreSQL. Resolves without a commit after a second, and when the store closes. Call it before
   * `readChanges` to miss nothing. Costs nothing until it is called; waiting costs the same for any number of callers.
   */
  nextCommit(): Promise<void>
}

/**
 * Resolves to the cursor of the latest change.
 *
 * @throws StoreUnavailable
 */
export async function readLatestCursor(feed: ChangeFeed): Promise<string> {
  const page = await feed.readChanges({ after: 'latest', limit: 1 })
  if (typeof page === 'string') throw new Error(`there is no latest cursor: ${page}`)
  return page.next
}
