import type { Json } from '../../core/contract/operation-types.ts'
import type { components } from '../../core/generated/api.gen.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import type { Member } from '../../core/members/members.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { NewPlant, Plant, PlantPatch, StoredPlant } from './plant-content.ts'
import { type PlantFilter, readsText } from './plant-filter.ts'
import type { ApplyMode, Guard, GuardRefusal } from './record-store.ts'
import type { KeyRange, SortPlace } from './sort-index.ts'

export type { NewPlant, Plant, PlantPatch, StoredPlant }

/**
 * The result of a create:
 * - `created`: the id was free, and the plant is now stored;
 * - `unchanged`: the id already had a plant with the same content;
 * - `plant-exists`: the id already had a plant with other content, and nothing changed.
 *
 * Own fields that the create neither sets nor clears count as the same.
 */
export type CreateResult = 'created' | 'unchanged' | 'plant-exists'

/**
 * Why an update or removal changed nothing:
 * - `plant-not-found`: no plant has the id;
 * - `plant-changed`: the plant has none of the expected versions, or not the expected content.
 */
export type NoMatch = 'plant-not-found' | 'plant-changed'

/**
 * A change to a plant:
 * - `create` stores a plant if its id is free;
 * - `replace` replaces the content of a plant;
 * - `put` replaces a plant, or creates it;
 * - `update` applies a patch to a plant;
 * - `remove` removes a plant, which frees its id.
 *
 * `expected` are the acceptable versions of the plant (see `contentVersion`), or its content: a plant that `put` would leave
 * unchanged. Undefined accepts any. The store compares and changes atomically: of concurrent updates that expect the same
 * version, one succeeds.
 */
export type PlantChange =
  | ({ readonly type: 'create' } & Readonly<NewPlant>)
  | ({ readonly type: 'put' } & Readonly<NewPlant>)
  | ({ readonly type: 'replace' } & Readonly<NewPlant> & Expecting)
  | ({ readonly type: 'update'; readonly id: bigint; readonly patch: PlantPatch } & Expecting)
  | ({ readonly type: 'remove'; readonly id: bigint } & Expecting)

/**
 * How much stored text a list of several changes may affect, in UTF-8 bytes: the names, tags and own fields of its
 * plants before and after each change. The list that undoes an accepted list is therefore accepted too. Changing this
 * much takes a fraction of a second.
 */
export const LIST_TEXT_MAX = 2 ** 23

export type Expectation = readonly string[] | NewPlant

interface Expecting {
  readonly expected?: Expectation | undefined
}

/**
 * The possible results of each type of change, in the words of the contract. `unchanged` means that the change had no
 * effect, because the plant already had the content, or because a removal that expects nothing found no plant. The
 * failures of the contract are refusals.
 */
interface ChangeResults {
  create: CreateResult
  put: 'created' | 'changed' | 'unchanged'
  replace: 'changed' | 'unchanged' | NoMatch
  update: 'changed' | 'unchanged' | NoMatch
  remove: 'removed' | 'unchanged' | NoMatch
}

export type ChangeType = keyof ChangeResults

export type ChangeResult<Type extends ChangeType = ChangeType> = ChangeResults[Type]

export type Refusal = 'plant-exists' | NoMatch

/** What a single change resolves to: the plant after a replacement or update that was not refused, or else the result. */
export type ChangeOutcome<Type extends ChangeType = ChangeType> = Type extends 'replace' | 'update'
  ? StoredPlant | NoMatch
  : ChangeResult<Type>

/** The changes of some types. */
export type ChangeOf<Type extends ChangeType> = Extract<PlantChange, { readonly type: Type }>

/** The results of the changes of a list, or why none was made. */
export type ListResult<Mode extends ApplyMode | Guard = ApplyMode> =
  | ChangeResult[]
  | 'too-large'
  | (Mode extends Guard ? GuardRefusal : never)

/** Whether a change was refused. */
export function isRefusal(result: ChangeResult): result is Refusal {
  return result === 'plant-exists' || result === 'plant-not-found' || result === 'plant-changed'
}

export interface PageRequest {
  /** Return only plants with a greater id, or a smaller one if the order is reversed. */
  readonly after?: bigint | undefined
  /** Whether the order is from the greatest id to the smallest. */
  readonly isDescending?: boolean | undefined
  /** Return only plants with exactly this tag. */
  readonly tag?: string | undefined
  /** The maximum number of plants, at least 1. */
  readonly limit: number
}

export interface SearchRequest extends PlantFilter, Omit<PageRequest, 'tag'> {}

/** Whether plants must be examined to find a page, because no index has those that are selected. */
export function isSearch(request: PageRequest | SearchRequest): request is SearchRequest {
  return request.tag === null || readsText(request)
}

export interface CountRequest extends PlantFilter, Pick<PageRequest, 'after'> {}

export interface PlantPage {
  /**
   * The plants in JSON, in the order of their ids, without optional whitespace. A page is only ever sent, and a database formats
   * plants faster than we build objects. A page ends once it has PAGE_TEXT_MAX of text, but has at least one plant if any
   * match. Only a search can return none although more follow.
   */
  readonly json: Json<components['schemas']['StoredPlant'][]>
  /** The number of plants. */
  readonly found: number
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: bigint | undefined
}

/** A request for plants in the order of an index, or reversed. The plants without a value are the last ones in any case. */
export interface SortedRequest extends PlantFilter {
  /** The member by whose index the plants are sorted. */
  readonly member: Member
  readonly isDescending: boolean
  /** Select only plants with keys in these ranges, which are in the order of the plants. */
  readonly ranges: readonly KeyRange[]
  /** Return only plants that follow this place. */
  readonly after?: SortPlace | undefined
  /** The maximum number of plants, at least 1. */
  readonly limit: number
}

/** Like a PlantPage, but in the order of an index. `next` can be the place of a plant that does not match. */
export interface SortedPage extends Omit<PlantPage, 'next'> {
  readonly next: SortPlace | undefined
}

/** Why plants cannot be sorted now: see PlantStore.listSorted. */
export type NoOrder = 'incomplete' | 'behind'

/** How many plants of a range match. */
export interface CountedRange {
  readonly found: number
  /** The id after which the next range begins; undefined if no plants follow. */
  readonly next: bigint | undefined
}

/**
 * The limit on the text of a page or batch, not counting its last plant, in UTF-16 units (SQLite) or bytes
 * (PostgreSQL).
 */
export const PAGE_TEXT_MAX = 2 ** 18

/** The longest tag that is listed, in characters: the longest that the contract accepts as a parameter. */
export const LISTED_TAG_MAX = limits.listPlants.tag.maxLength

/** The longest cursor in a list of tags, in characters. */
export const TAG_CURSOR_MAX = limits.listTags.after.maxLength

/** How much a search examines at most, not counting its last plant. `bytes` are those of names, tags and own fields. */
export const SEARCH_MAX = { plants: 4000, bytes: 2 ** 19 }

/** How many plants a count examines at most if it reads no text. */
export const COUNT_MAX = 20_000

export interface TagsRequest {
  /** The `next` of the previous page. */
  readonly after?: string | undefined
  /** The maximum number of tags, at least 1. */
  readonly limit: number
}

export interface TagPage {
  readonly tags: readonly string[]
  /**
   * The cursor after which the next page begins: at most TAG_CURSOR_MAX letters, digits, `-` and `_`. Undefined on the
   * last page.
   */
  readonly next: string | undefined
}

/**
 * Stores plants. Callers pass valid plants only: ids within int64, and strings without U+0000 or lone
 * surrogates. A store returns every string code point for code point, and distinguishes a missing tag from an
 * empty one.
 *
 * Durability: a change resolves only after it would survive a power failure. Concurrent changes can share a
 * commit.
 *
 * Consistency: a read sees every change that had resolved when the read began, and all its plants at one moment, except
 * for a count.
 *
 * Short reads: a read takes a few milliseconds at most, unless a single plant takes longer. See read-jobs.ts for more.
 *
 * Errors: every method throws StoreUnavailable if the store is temporarily unavailable. A change that throws
 * may still have been applied; repeating it is safe.
 *
 * Restrictions: a restricted database refuses every change, before it looks at the plants. An incomplete mirror refuses
 * every read, in the snapshot of the read, unless the store was opened to read it.
 */
export interface PlantStore extends ChangeFeed {
  /** Makes one change. Of concurrent creates with the same id, exactly one is `created`. */
  change<Type extends ChangeType>(change: ChangeOf<Type>): Promise<ChangeOutcome<Type>>

  /**
   * Makes changes in one transaction, in order, and resolves to their results in the same order. Concurrent calls see
   * all of them or none. A refused change does not affect the others, unless `mode` is `all-or-none`. Then nothing
   * is changed, and the results of the others are those that they would have had. With a guard, the changes are made as
   * with `each`. When one that begins to refuse others resolves, no other change is in flight.
   *
   * Resolves to `too-large` if several changes affect more than LIST_TEXT_MAX or the `textMax` of the guard. Then nothing
   * is changed.
   */
  apply<Mode extends ApplyMode | Guard>(
    changes: readonly PlantChange[],
    mode: Mode,
  ): Promise<ListResult<Mode>>

  /** Resolves to the plant with the id, or undefined if there is none. */
  get(id: bigint): Promise<StoredPlant | undefined>

  /**
   * Resolves to a page of plants. The cost is independent of the position of the page and of the number of
   * stored plants. A search examines no more than SEARCH_MAX, in id order, so `next` can be the id of a plant that does
   * not match.
   */
  list(request: PageRequest | SearchRequest): Promise<PlantPage>

  /**
   * Resolves to a page of plants, sorted by an index: by key, then by id. A read examines no more than SEARCH_MAX.
   * `incomplete` if there is no index that has all plants, and `behind` if too many plants have changed since
   * `indexPlants`.
   */
  listSorted(request: SortedRequest): Promise<SortedPage | NoOrder>

  /**
   * Does a part of what the indexes need, in tens of milliseconds: gives keys to plants that other programs have changed, or
   * that a new index does not have yet, and removes the keys of an index whose record says so. On PostgreSQL, also to plants
   * that this interface has changed. Resolves to whether there may be more to do.
   */
  indexPlants(): Promise<boolean>

  /**
   * Resolves to a page of the plants with some ids.
   *
   * @param ids in ascending order, each once. Those without a plant are ignored.
   */
  getAll(ids: readonly bigint[]): Promise<PlantPage>

  /**
   * Counts the plants that match in a range. Examines COUNT_MAX plants at most or, if it reads names or own fields,
   * SEARCH_MAX. With a tag, it examines only the plants with that tag. If it reads no text, parts of the range can be
   * counted at different moments.
   */
  count(request: CountRequest): Promise<CountedRange>

  /**
   * Resolves to a page of the tags that plants have, each once, in an order that the engine chooses and never changes.
   * Omits tags of more than LISTED_TAG_MAX characters, and ends once the tags that it has examined have PAGE_TEXT_MAX of
   * text, so a page can be shorter than its limit. The cost is independent of the number of stored plants. `malformed` if
   * `after` is not a cursor that this engine has issued.
   */
  listTags(request: TagsRequest): Promise<TagPage | 'malformed'>

  /**
   * Iterates over all plants, ordered by id, in batches. All batches come from one snapshot, taken at the
   * first read, which does not block changes. Ending the iteration early also releases the snapshot.
   */
  exportPlants(): AsyncIterable<readonly StoredPlant[]>

  /** Resolves if the plants can be read. */
  ping(): Promise<void>
}

/** The calls that requests need. Several threads can serve them. */
export type RequestStore = Omit<PlantStore, 'exportPlants'>

/**
 * The store is unavailable, through no fault of the caller. Unless it is damaged, it recovers on its own:
 * - `busy`: too many calls are waiting, or another process has locked the store;
 * - `failing`: the disk is full or faulty, the server is unreachable, or too few standbys would have a change;
 * - `damaged`: the database is damaged, and accepts no changes until an operator has restored it;
 * - `restricted`: the database is frozen, or an incomplete mirror: see Restriction;
 * - `read-only`: the database is a mirror, which accepts no changes.
 */
export class StoreUnavailable extends Error {
  readonly reason: 'busy' | 'failing' | 'damaged' | 'restricted' | 'read-only'
  /** For the operator's log, never for clients. */
  readonly detail: string
  /** What clients can be told in addition to the reason, even those without a token. */
  readonly notice: string | undefined

  constructor(reason: StoreUnavailable['reason'], detail: string, notice?: string) {
    super(`the store is ${reason}: ${detail}`)
    this.name = 'StoreUnavailable'
    this.reason = reason
    this.detail = detail
    this.notice = notice
  }
}
