/** A typed client for a plant store, for Node and browsers. */
import type { operations } from '../core/generated/api.gen.ts'
import { listTagsLimits } from '../core/generated/limits.gen.ts'
import { NO_COUNTS, sendInParts } from './batches.ts'
import { sendChanges, sendChangesInParts } from './change-lists.ts'
import { fetchChanges, followChanges } from './changes.ts'
import { hasCondition } from './errors.ts'
import { type PlantParameters, plantParameters, selectsNone } from './plant-queries.ts'
import type {
  Change,
  ChangeCounts,
  NewPlant,
  Plant,
  PlantChange,
  PlantPatch,
  StoredPlant,
} from './plants.ts'
import { buildRequest, changeParameters, checkId, pathParameters } from './requests.ts'
import {
  type ApiResponse,
  areStoredPlants,
  areStrings,
  isAccessToken,
  isBatchResult,
  isPlant,
  isStoredPlant,
  readContent,
  readEntityTag,
  readNextQuery,
  readPlantCount,
  readPlants,
  toError,
} from './responses.ts'
import { type CallOptions, type ClientOptions, Transport } from './transport.ts'
import type {
  AccessToken,
  BatchResult,
  ChangePage,
  ChangeQuery,
  CountQuery,
  FollowOptions,
  Page,
  PlantCount,
  PlantQuery,
  PlantsQuery,
  ReadOptions,
  ReplacedPlant,
  TaggedPlant,
  TagPage,
  TagQuery,
  UnconditionalOptions,
  WriteOptions,
} from './types.ts'

export type { ErrorCode } from '../core/generated/error-codes.gen.ts'
export {
  BatchError,
  ConnectionError,
  isPlantStoreError,
  PlantStoreError,
  ServiceError,
  UnexpectedResponseError,
  UnknownOutcomeError,
} from './errors.ts'
export { parseJson, toJson } from './json.ts'
export type {
  Change,
  ChangeCounts,
  NewPlant,
  Plant,
  PlantChange,
  PlantPatch,
  StoredPlant,
} from './plants.ts'
export type { CallOptions, ClientOptions } from './transport.ts'
export type {
  AccessToken,
  BatchResult,
  ChangePage,
  ChangeQuery,
  CountQuery,
  FieldCondition,
  FieldFilter,
  FollowOptions,
  Page,
  PlantCount,
  PlantQuery,
  PlantsQuery,
  ReadOptions,
  ReplacedPlant,
  TaggedPlant,
  TagPage,
  TagQuery,
  WriteOptions,
} from './types.ts'
export type { PlantStoreClient }

/**
 * Creates a client. Nothing is sent until you call one of its methods.
 *
 * @example
 * const plants = createClient({ url: 'http://127.0.0.1:3000', token })
 * await plants.createPlant({ id: 4n, name: 'Abies alba Mill.', tag: 'Tree' })
 *
 * @typeParam P the type of a plant, if the service has own fields. openapi-typescript generates it from the service's
 *   `/documentation/json`, as `components['schemas']['Plant']`.
 * @throws TypeError if the URL is not an HTTP URL, or has credentials, a query or a fragment; if there is no token, or an
 *   empty one; or if the platform is older than Node 22 and the browsers of its time
 */
export function createClient<P extends Plant = Plant>(options: ClientOptions): PlantStoreClient<P> {
  return new PlantStoreClient<P>(new Transport(options)) satisfies Operations
}

const TAGS_PAGE_SIZE = listTagsLimits.limit.maximum

/** `createClient` fails to compile if the class lacks an operation of the contract. */
type Operations = { [Id in keyof operations]: (...parameters: never[]) => Promise<unknown> }

/**
 * Has one method for each operation of the contract, and iterations over all plants, tags and changes. Create it
 * with `createClient`.
 *
 * Requests that are safe to retry are retried automatically (see `ClientOptions`). Every method throws:
 * - ServiceError if the service rejects the request;
 * - UnexpectedResponseError if the response violates the contract;
 * - ConnectionError if there is no response;
 * - the abort reason of `signal`;
 * - TypeError for an id that is not a bigint, or if the option `token` is a function that returns no token.
 *
 * @example
 * async function rename(plants: PlantStoreClient, id: bigint, name: string) {
 *   await plants.updatePlant(id, { name })
 * }
 */
class PlantStoreClient<P extends Plant = Plant> {
  readonly #transport: Transport

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Stores a plant under the id that you choose. If the same plant is already stored, nothing changes and the
   * result is the same.
   *
   * @example
   * await plants.createPlant({ id: 4n, name: 'Abies alba Mill.', tag: 'Tree' })
   *
   * @throws ServiceError with the condition `plant-exists` if the id has a plant with other content
   */
  async createPlant(plant: NewPlant<P>, options?: CallOptions): Promise<{ plant: P }> {
    checkId(plant.id)
    return this.#transport.call(
      buildRequest('post', '/plants', { body: plant }),
      (result) => ({ plant: readPlants(result, isPlant<P>) }),
      options,
    )
  }

  /**
   * Stores many plants. An array with more than 1,000 plants or 1 MiB of JSON is split into parts, which are sent one
   * after the other. A part that the service or a proxy refuses as too large is split again. Each part is stored
   * completely or not at all. Plants that are already stored with the same content stay unchanged, so calling it again
   * after an error is safe.
   *
   * @example
   * const { created, unchanged } = await plants.createPlants([
   *   { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' },
   *   { id: 5n, name: 'Acer rubrum L.' },
   * ])
   *
   * @throws BatchError that names the part that failed; its `cause` is the error of that part, such as a
   *   ServiceError with the condition `plant-exists` or `repeated-id`
   * @throws TypeError for an id that is not a bigint, before anything is sent
   */
  async createPlants(plants: readonly NewPlant<P>[], options?: CallOptions): Promise<BatchResult> {
    const send = (json: string) =>
      this.#transport.call(
        buildRequest('post', '/plants/batch', { json }),
        (result) => {
          const { created, replayed } = readContent(result, isBatchResult)
          return { ...NO_COUNTS, created, unchanged: replayed }
        },
        options,
      )
    const { created, unchanged } = await sendInParts('plant', plants, send, options?.signal)
    return { created, unchanged }
  }

  /**
   * Makes up to 1,000 changes, in at most 1 MiB of JSON, in one transaction: either all of them or none, so that the list
   * is never split. Each id can occur only once. Removing a plant that does not exist has no effect, unless the change has
   * `ifMatch` or `ifContent`.
   *
   * @example
   * const { changed, removed } = await plants.changePlants([
   *   { op: 'update', id: 4n, tag: 'Tree', ifMatch: etag },
   *   { op: 'remove', id: 5n },
   * ])
   *
   * @throws ServiceError with the condition `plant-exists`, `plant-not-found`, `plant-changed` or `repeated-id`; its
   *   message names the first change that failed by its index, as in `body/1`. With the condition `changes-too-large`,
   *   the plants are too large to be changed together, and fewer changes at a time succeed
   * @throws UnknownOutcomeError if a list is refused, possibly because of an earlier attempt: one with `ifMatch` or
   *   `ifContent`, or as too large
   * @throws TypeError for an id that is not a bigint, before anything is sent
   */
  async changePlants(
    changes: readonly PlantChange<P>[],
    options?: CallOptions,
  ): Promise<ChangeCounts> {
    return sendChanges(this.#transport, changes, options)
  }

  /**
   * Makes any number of changes, in order. An array with more than 1,000 changes or 1 MiB of JSON is split into parts,
   * which are sent one after the other, like the lists of `changePlants`. A part that is refused as too large is split
   * again. Each part is made completely or not at all, but not all of them together. List each plant once: the service
   * refuses a part that changes one twice.
   *
   * If a part fails, the changes before it stay made, and later ones are not sent. To continue, pass those from the
   * error's `start` on. Unless the service rejected the part, it may have been made: its changes with `ifMatch` or
   * `ifContent` are then refused, and the others have no further effect.
   *
   * @example
   * const { changed } = await plants.changePlantsInParts(ids.map((id) => ({ op: 'update', id, tag: 'Tree' })))
   *
   * @throws BatchError that names the part that failed; its `cause` is what `changePlants` would throw for that part
   * @throws TypeError for an id that is not a bigint, before anything is sent
   */
  async changePlantsInParts(
    changes: readonly PlantChange<P>[],
    options?: CallOptions,
  ): Promise<ChangeCounts> {
    return sendChangesInParts(this.#transport, changes, options)
  }

  /**
   * Fetches a page of plants, by default in the order of their ids. `plants` iterates over all of them.
   *
   * @example
   * const page = await plants.listPlants({ tag: 'Tree', limit: 10 })
   * const nextPage = await page.next?.()
   * const some = await plants.listPlants({ id: [4n, 49n] })
   * const latest = await plants.listPlants({ sort: '-id' })
   * const { count } = await plants.listPlants({ untagged: true, count: true })
   * const tall = await nursery.listPlants({ filter: { height: { min: 100 }, light: { is: ['sun'] } } })
   */
  async listPlants(query: PlantQuery<P> = {}, options?: CallOptions): Promise<Page<P>> {
    if (query.after !== undefined) checkId(query.after)
    for (const id of query.id ?? []) checkId(id)
    if (selectsNone(query))
      return { plants: [], ...(query.count && { count: { plants: 0, isExact: true } }) }
    return this.#page(plantParameters(query), options)
  }

  #page(query: PlantParameters | string, options?: CallOptions): Promise<Page<P>> {
    return this.#transport.call(
      buildRequest('get', '/plants', { query }),
      (result) => {
        const plants = readPlants(result, areStoredPlants<P>)
        const next = readNextQuery(result)
        const count = readPlantCount(result)
        return {
          plants,
          ...(count !== undefined && { count }),
          ...(next !== undefined && { next: (options) => this.#page(next, options) }),
        }
      },
      options,
    )
  }

  /**
   * Counts plants without fetching them. The service examines a limited number of them: see `PlantCount`.
   *
   * @example
   * const { plants: trees, isExact } = await plants.countPlants({ tag: 'Tree' })
   * console.log(isExact ? `${trees} trees` : `at least ${trees} trees`)
   */
  async countPlants(query: CountQuery<P> = {}, options?: CallOptions): Promise<PlantCount> {
    if (selectsNone(query)) return { plants: 0, isExact: true }
    return this.#transport.call(
      buildRequest('get', '/plants', {
        query: plantParameters({ ...query, count: true, limit: 1 }),
      }),
      (result) => {
        const count = readPlantCount(result)
        if (count === undefined) throw toError(result)
        return count
      },
      options,
    )
  }

  /**
   * Iterates over all plants, by default in the order of their ids. Each page is fetched when the iteration reaches it, so changes
   * made meanwhile can be included or missed. Pages without plants are skipped.
   *
   * @example
   * for await (const { id, name } of plants.plants({ tag: 'Tree', q: 'abies' })) console.log(id, name)
   */
  async *plants(
    { pageSize, ...query }: PlantsQuery<P> = {},
    options?: CallOptions,
  ): AsyncGenerator<StoredPlant<P>, void, void> {
    const first = pageSize === undefined ? query : { ...query, limit: pageSize }
    let page: Page<P> | undefined = await this.listPlants(first, options)
    while (page !== undefined) {
      yield* page.plants
      page = await page.next?.(options)
    }
  }

  /**
   * Fetches a page of tags, each once. `tags` iterates over all of them.
   *
   * @example
   * const { tags } = await plants.listTags({ limit: 1000 })
   */
  async listTags(query: TagQuery = {}, options?: CallOptions): Promise<TagPage> {
    return this.#tagPage(query, options)
  }

  #tagPage(query: TagQuery | string, options?: CallOptions): Promise<TagPage> {
    return this.#transport.call(
      buildRequest('get', '/tags', { query }),
      (result) => {
        const tags = readContent(result, areStrings)
        const next = readNextQuery(result)
        return next === undefined
          ? { tags }
          : { tags, next: (options) => this.#tagPage(next, options) }
      },
      options,
    )
  }

  /**
   * Iterates over the tags that plants have, each once, in an order that does not change. Tags of more than 1,000
   * characters are omitted.
   *
   * @example
   * const tags = await Array.fromAsync(plants.tags())
   */
  async *tags(options?: CallOptions): AsyncGenerator<string, void, void> {
    let page: TagPage | undefined = await this.listTags({ limit: TAGS_PAGE_SIZE }, options)
    while (page !== undefined) {
      yield* page.tags
      page = await page.next?.(options)
    }
  }

  /**
   * Fetches the name, the scopes and the expiry of the client's token, and why the service accepts no changes, if it is a
   * mirror or frozen.
   *
   * @example
   * const { scopes, readOnlyReason } = await plants.getToken()
   * if (!scopes.includes('write') || readOnlyReason !== undefined) console.log('read-only')
   */
  async getToken(options?: CallOptions): Promise<AccessToken> {
    return this.#transport.call(
      buildRequest('get', '/token', {}),
      (result) => readContent(result, isAccessToken),
      options,
    )
  }

  /**
   * Fetches a plant. With `ifNoneMatch`, resolves to undefined if that version is still current.
   *
   * @example
   * const { plant, etag } = await plants.getPlant(4n)
   * const newer = await plants.getPlant(4n, { ifNoneMatch: etag })
   *
   * @throws ServiceError with the condition `plant-not-found`
   */
  async getPlant(id: bigint, options?: UnconditionalOptions): Promise<TaggedPlant<P>>
  async getPlant(id: bigint, options: ReadOptions): Promise<TaggedPlant<P> | undefined>
  async getPlant(id: bigint, options: ReadOptions = {}): Promise<TaggedPlant<P> | undefined> {
    const { ifNoneMatch } = options
    const header = ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch }
    const parameters = { path: pathParameters(id), header }
    return this.#transport.call(
      buildRequest('get', '/plants/{id}', parameters),
      (result) => (result.response.status === 304 ? undefined : readTaggedPlant<P>(result)),
      options,
    )
  }

  /**
   * Replaces the content of a plant. Without a `tag`, the plant loses its tag; the same applies to own fields. `etag` is
   * null if the plant is not exactly what you sent: see `ReplacedPlant`.
   *
   * @example
   * const { etag } = await plants.replacePlant(4n, { name: 'Abies alba' })
   *
   * @throws ServiceError with the condition `plant-not-found` or, with `ifMatch`, `plant-changed`
   * @throws UnknownOutcomeError with `ifMatch`
   */
  async replacePlant(id: bigint, plant: P, options?: WriteOptions): Promise<ReplacedPlant<P>> {
    const parameters = changeParameters(id, options)
    return this.#transport.call(
      buildRequest('put', '/plants/{id}', { ...parameters, body: plant }),
      (result) => ({
        plant: readPlants(result, isStoredPlant<P>),
        etag: result.response.headers.has('etag') ? readEntityTag(result) : null,
      }),
      options,
    )
  }

  /**
   * Changes only the properties in the patch; null removes a tag or an own field. The token needs the scopes `read` and
   * `write`.
   *
   * @example
   * const { plant, etag } = await plants.updatePlant(4n, { tag: null })
   *
   * @throws ServiceError with the condition `plant-not-found` or, with `ifMatch`, `plant-changed`
   * @throws UnknownOutcomeError with `ifMatch`
   */
  async updatePlant(
    id: bigint,
    patch: PlantPatch<P>,
    options?: WriteOptions,
  ): Promise<TaggedPlant<P>> {
    const parameters = changeParameters(id, options)
    const contentType = 'application/merge-patch+json'
    return this.#transport.call(
      buildRequest('patch', '/plants/{id}', { ...parameters, contentType, body: patch }),
      readTaggedPlant<P>,
      options,
    )
  }

  /**
   * Removes a plant, which frees its id.
   *
   * @example
   * await plants.deletePlant(4n, { ifMatch: etag })
   *
   * @throws ServiceError with the condition `plant-not-found` or, with `ifMatch`, `plant-changed`
   * @throws UnknownOutcomeError with `ifMatch`
   */
  async deletePlant(id: bigint, options?: WriteOptions): Promise<void> {
    const parameters = changeParameters(id, options)
    return this.#transport.call(
      buildRequest('delete', '/plants/{id}', parameters),
      (result, earlier) => {
        if (result.response.status === 204) return
        const error = toError(result)
        // An earlier attempt may have removed the plant; either way it is gone.
        if (earlier && hasCondition(error, 'plant-not-found')) return
        throw error
      },
      options,
    )
  }

  /**
   * Fetches a page of changes, in the order of the feed. `changes` iterates over all of them.
   *
   * @example
   * const { changes, cursor } = await plants.listChanges({ after, wait: 30 })
   *
   * @throws ServiceError with the condition `cursor-malformed` or `cursor-expired`
   */
  async listChanges(query: ChangeQuery = {}, options?: CallOptions): Promise<ChangePage<P>> {
    return fetchChanges(this.#transport, query, options)
  }

  /**
   * Iterates over the changes to the plants, and waits for more. It ends only with an error, the signal or `break`. After
   * the first response, it resumes automatically whenever the service is unavailable, without a limit on retries. To
   * continue later, store the `cursor` of the last change, and pass it as `after`.
   *
   * @example
   * for await (const { cursor, id, plant } of plants.changes({ after, signal })) {
   *   console.log(plant === undefined ? `removed ${id}` : `stored ${id}: ${plant.name}`)
   *   after = cursor
   * }
   *
   * @throws ServiceError with the condition `cursor-malformed` or `cursor-expired`
   */
  changes(options: FollowOptions = {}): AsyncGenerator<Change<P>, void, void> {
    return followChanges(this.#transport, options)
  }
}

function readTaggedPlant<P extends Plant>(result: ApiResponse): TaggedPlant<P> {
  return { plant: readPlants(result, isStoredPlant<P>), etag: readEntityTag(result) }
}
