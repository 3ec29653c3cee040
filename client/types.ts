import type { components, operations } from '../core/generated/api.gen.ts'
import type { Change, ChangeCounts, Plant, StoredPlant } from './plants.ts'
import type { CallOptions } from './transport.ts'

/**
 * How many plants `createPlants` created, and how many were already stored with the same content or repeated.
 *
 * @example
 * const { created, unchanged }: BatchResult = await plants.createPlants([{ id: 4n, name: 'Abies alba Mill.' }])
 */
export type BatchResult = Pick<ChangeCounts, 'created' | 'unchanged'>

/**
 * Selects a page of plants: those that follow the id `after` in the order `sort`, with exactly the `tag` or without one (`untagged`),
 * whose name contains each word of `q`, whose own fields meet the `filter`, and at most `limit` of them (by default 100).
 * `count` also counts the plants on all pages. Alternatively, `id` selects up to 200 plants by their ids, and can only be
 * combined with `after`.
 *
 * @example
 * const query: PlantQuery = { after: 4n, tag: 'Tree', limit: 10 }
 */
export type PlantQuery<P extends Plant = Plant> = Omit<
  NonNullable<operations['listPlants']['parameters']['query']>,
  'sort'
> & { readonly sort?: PlantOrder<P> | undefined; readonly filter?: FieldFilter<P> | undefined }

/**
 * The order of plants: by `id`, or by a property that the operator has made sortable. `-` reverses it.
 *
 * @example
 * const order: PlantOrder = '-name'
 */
export type PlantOrder<P extends Plant = Plant> = `${'' | '-'}${'id' | Extract<keyof P, string>}`

/**
 * What own fields must be, by their names: all of it.
 *
 * @example
 * const filter: FieldFilter<NurseryPlant> = { height: { min: 10 }, light: { is: ['sun', 'shade'] }, note: 'absent' }
 */
export type FieldFilter<P extends Plant = Plant> = {
  readonly [Name in keyof P as Exclude<Name, keyof Plant>]?:
    | FieldCondition<NonNullable<P[Name]>>
    | undefined
}

/**
 * What an own field must be: absent, or one of the values `is`, and within the limits. Only numbers and dates can have
 * limits, which are inclusive.
 *
 * @example
 * const condition: FieldCondition<number> = { min: 10, max: 20 }
 */
export type FieldCondition<Value> =
  | 'absent'
  | {
      readonly is?: readonly Value[] | undefined
      readonly min?: Exclude<Value, boolean> | undefined
      readonly max?: Exclude<Value, boolean> | undefined
    }

/**
 * Selects plants to iterate over.
 *
 * @example
 * for await (const plant of plants.plants({ tag: 'Tree', pageSize: 1000 })) console.log(plant)
 */
export interface PlantsQuery<P extends Plant = Plant>
  extends Omit<PlantQuery<P>, 'limit' | 'count'> {
  /**
   * How many plants to fetch per request. Larger pages need fewer requests and more memory.
   *
   * @default 100
   */
  readonly pageSize?: PlantQuery['limit']
}

/**
 * Selects plants to count.
 *
 * @example
 * const filter: CountQuery = { tag: 'Tree', q: 'abies' }
 */
export type CountQuery<P extends Plant = Plant> = Pick<
  PlantQuery<P>,
  'tag' | 'untagged' | 'q' | 'filter'
>

/**
 * How many plants match. The service examines a limited number of them.
 *
 * @example
 * const { plants: trees, isExact }: PlantCount = await plants.countPlants({ tag: 'Tree' })
 */
export interface PlantCount {
  readonly plants: number
  /** Whether all plants were examined. Otherwise, more plants may match. */
  readonly isExact: boolean
}

/**
 * Options of a read.
 *
 * @example
 * const newer = await plants.getPlant(4n, { ifNoneMatch: etag })
 */
export interface ReadOptions extends CallOptions {
  /** The `etag` of the version that you have. If it is still current, the call resolves to undefined. */
  readonly ifNoneMatch?: string | undefined
}

/** A read that always resolves to a plant. */
export interface UnconditionalOptions extends CallOptions {
  readonly ifNoneMatch?: undefined
}

/**
 * Options of a change to one plant.
 *
 * @example
 * const { plant, etag } = await plants.getPlant(4n)
 * await plants.replacePlant(4n, { ...plant, name: 'Abies alba' }, { ifMatch: etag })
 */
export interface WriteOptions extends CallOptions {
  /**
   * The `etag` of the version to change. If the plant has another version, nothing changes and the call
   * throws a ServiceError with the condition `plant-changed`. Without it, the change overwrites any
   * version.
   */
  readonly ifMatch?: string | undefined
}

/**
 * A plant and the `etag` of its version, for `ifMatch` and `ifNoneMatch`.
 *
 * @example
 * const { plant, etag }: TaggedPlant = await plants.getPlant(4n)
 */
export interface TaggedPlant<P extends Plant = Plant> {
  readonly plant: StoredPlant<P>
  readonly etag: string
}

/**
 * A plant after its replacement. `etag` is null if it is not exactly what you sent, because a property was ignored or a
 * field is hidden.
 */
export interface ReplacedPlant<P extends Plant = Plant> {
  readonly plant: StoredPlant<P>
  readonly etag: string | null
}

/**
 * A page of plants.
 *
 * @example
 * const first: Page = await plants.listPlants({ limit: 10 })
 * const second = await first.next?.()
 */
export interface Page<P extends Plant = Plant> {
  /** In the order of the query. There can be fewer than the limit, or even none, even if more follow. */
  readonly plants: StoredPlant<P>[]
  /** How many plants match on all pages. Undefined unless the query has `count`. */
  readonly count?: PlantCount
  /** Fetches the next page. Undefined on the last page. */
  readonly next?: (options?: CallOptions) => Promise<Page<P>>
}

/**
 * Selects a page of tags: those after the cursor `after`, and at most `limit` of them (by default 100).
 *
 * @example
 * const query: TagQuery = { limit: 1000 }
 */
export type TagQuery = NonNullable<operations['listTags']['parameters']['query']>

/**
 * A page of tags.
 *
 * @example
 * const first: TagPage = await plants.listTags({ limit: 1000 })
 * const second = await first.next?.()
 */
export interface TagPage {
  /** In an order that does not change. There can be fewer than the limit even if more follow. */
  readonly tags: string[]
  /** Fetches the next page. Undefined on the last page. */
  readonly next?: (options?: CallOptions) => Promise<TagPage>
}

/**
 * What an access token permits, and for how long. `readOnlyReason` says why the service accepts no changes at present.
 *
 * @example
 * const { name, scopes, expiresAt = 'never' }: AccessToken = await plants.getToken()
 */
export type AccessToken = components['schemas']['AccessToken']

/**
 * Selects a page of changes: those after the cursor `after`, and at most `limit` of them (by default 100). `latest`
 * stands for the end of the feed. If there are none, the service responds after `wait` seconds (by default 0).
 *
 * @example
 * const query: ChangeQuery = { after: 'latest', wait: 30 }
 */
export type ChangeQuery = NonNullable<operations['listChanges']['parameters']['query']>

/**
 * A page of changes.
 *
 * @example
 * const { changes, cursor, next }: ChangePage = await plants.listChanges({ after: 'latest' })
 */
export interface ChangePage<P extends Plant = Plant> {
  /** In the order of the feed. There can be fewer than the limit, or none, even if more follow. */
  readonly changes: Change<P>[]
  /** The cursor after the page, for `after`. */
  readonly cursor: string
  /** Fetches the next page, with the same `limit` and `wait`. */
  readonly next: (options?: CallOptions) => Promise<ChangePage<P>>
}

/**
 * Options of `changes`.
 *
 * @example
 * for await (const change of plants.changes({ after: cursor, signal })) console.log(change)
 */
export interface FollowOptions extends CallOptions {
  /** Begin after this cursor, or at the end of the feed with `latest`. The default is the oldest retained change. */
  readonly after?: ChangeQuery['after']
  /**
   * How many changes to fetch per request.
   *
   * @default 1000
   */
  readonly pageSize?: ChangeQuery['limit']
}
