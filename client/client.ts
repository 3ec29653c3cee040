/**
 * Calls a plant store, from Node and from browsers. The types are those of the contract; an id is a bigint,
 * exact both ways.
 */
import {
  type Answer,
  areStoredPlants,
  contentOf,
  entityTagOf,
  failureOf,
  isPlant,
  isStoredPlant,
  nextQueryOf,
} from './answers.ts'
import type { components, operations } from './api.gen.ts'
import { type CallOptions, type ClientOptions, Connection } from './connection.ts'
import { hasCondition } from './errors.ts'

export type { ErrorCode } from '../src/contract/error-codes.gen.ts'
export type { CallOptions, ClientOptions } from './connection.ts'
export {
  ConnectionError,
  PlantStoreError,
  UnexpectedAnswerError,
  UnknownOutcomeError,
} from './errors.ts'
export type { PlantStoreClient }

export type Plant = components['schemas']['Plant']
export type NewPlant = components['schemas']['NewPlant']
export type StoredPlant = components['schemas']['StoredPlant']
export type PlantPatch = components['schemas']['PlantPatch']
export type PlantQuery = NonNullable<operations['listPlants']['parameters']['query']>

export interface ReadOptions extends CallOptions {
  /** The `etag` of the plant as you have it. */
  readonly ifNoneMatch?: string | undefined
}

/** What lets TypeScript tell that a plant is given in any case. */
interface UnconditionalOptions extends CallOptions {
  readonly ifNoneMatch?: undefined
}

export interface ChangeOptions extends CallOptions {
  /** The `etag` of the plant as it has to be; else it stays as it is, and the call fails. */
  readonly ifMatch?: string | undefined
}

/** A plant, and its `etag` for `ifMatch` and `ifNoneMatch`. */
export interface TaggedPlant {
  readonly plant: StoredPlant
  readonly etag: string
}

export interface Page {
  readonly plants: StoredPlant[]
  /** Fetches the next page; not there on the last one. */
  readonly next?: (options?: CallOptions) => Promise<Page>
}

/** Which plants to iterate over, and how many of them to fetch at once. */
export interface PlantsQuery extends Omit<PlantQuery, 'limit'> {
  readonly pageSize?: PlantQuery['limit']
}

/** @throws TypeError if the URL is not one of HTTP, or has more than a host and a path */
export function createClient(options: ClientOptions): PlantStoreClient {
  return new PlantStoreClient(new Connection(options))
}

/** Whatever the contract gets has to be here too. */
type Operations = { [Id in keyof operations]: (...parameters: never[]) => Promise<unknown> }

/**
 * A method for each operation of the contract, and an iteration. They throw the errors that are exported
 * above, the reason of an aborted `signal`, and a TypeError for an id that is not a bigint.
 */
class PlantStoreClient implements Operations {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Stores a plant under the id that you choose; does nothing if it is stored already. */
  async createPlant(plant: NewPlant, options?: CallOptions): Promise<{ plant: Plant }> {
    checkId(plant.id)
    return this.#connection.call(
      (http, init) => http.POST('/plants', { ...init, body: plant }),
      (answer) => ({ plant: contentOf(answer, isPlant) }),
      options,
    )
  }

  /** Fetches some plants, in the order of their ids. */
  async listPlants(query: PlantQuery = {}, options?: CallOptions): Promise<Page> {
    if (query.after !== undefined) checkId(query.after)
    return this.#page(query, options)
  }

  /** @param query a text is one of the service's own, sent as it is */
  #page(query: PlantQuery | string, options?: CallOptions): Promise<Page> {
    const search =
      typeof query === 'string' ? { querySerializer: () => query } : { params: { query } }
    return this.#connection.call(
      (http, init) => http.GET('/plants', { ...init, ...search }),
      (answer) => {
        const plants = contentOf(answer, areStoredPlants)
        const next = nextQueryOf(answer)
        return next === undefined
          ? { plants }
          : { plants, next: (options) => this.#page(next, options) }
      },
      options,
    )
  }

  /** All plants, in the order of their ids; pages of them are fetched as they are needed. */
  async *plants(
    { pageSize, ...query }: PlantsQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<StoredPlant, void, void> {
    const first = pageSize === undefined ? query : { ...query, limit: pageSize }
    let page: Page | undefined = await this.listPlants(first, options)
    while (page !== undefined) {
      yield* page.plants
      page = await page.next?.(options)
    }
  }

  /** Fetches a plant; gives undefined if it is still as in `ifNoneMatch`. */
  async getPlant(id: bigint, options?: UnconditionalOptions): Promise<TaggedPlant>
  async getPlant(id: bigint, options: ReadOptions): Promise<TaggedPlant | undefined>
  async getPlant(id: bigint, options: ReadOptions = {}): Promise<TaggedPlant | undefined> {
    const { ifNoneMatch } = options
    const header = ifNoneMatch === undefined ? {} : { 'If-None-Match': ifNoneMatch }
    const params = { path: pathOf(id), header }
    return this.#connection.call(
      (http, init) => http.GET('/plants/{id}', { ...init, params }),
      (answer) => (answer.response.status === 304 ? undefined : taggedPlantOf(answer)),
      options,
    )
  }

  /** Gives a plant another name and tag; without a `tag` it has none then. */
  async replacePlant(
    id: bigint,
    plant: Plant,
    options?: ChangeOptions,
  ): Promise<{ plant: StoredPlant }> {
    const params = changeOf(id, options)
    return this.#connection.call(
      (http, init) => http.PUT('/plants/{id}', { ...init, params, body: plant }),
      (answer) => ({ plant: contentOf(answer, isStoredPlant) }),
      options,
    )
  }

  /**
   * Changes what the patch names and leaves the rest; `tag: null` removes the tag. The token needs the scopes
   * `read` and `write`.
   */
  async updatePlant(id: bigint, patch: PlantPatch, options?: ChangeOptions): Promise<TaggedPlant> {
    const params = changeOf(id, options)
    const headers = { 'Content-Type': 'application/merge-patch+json' }
    return this.#connection.call(
      (http, init) => http.PATCH('/plants/{id}', { ...init, params, headers, body: patch }),
      taggedPlantOf,
      options,
    )
  }

  /** Removes a plant; its id is free again then. */
  async deletePlant(id: bigint, options?: ChangeOptions): Promise<void> {
    const params = changeOf(id, options)
    return this.#connection.call(
      (http, init) => http.DELETE('/plants/{id}', { ...init, params }),
      (answer, earlier) => {
        if (answer.response.status === 204) return
        const failure = failureOf(answer)
        // It is gone, be it by the earlier try.
        if (earlier && hasCondition(failure, 'plant-not-found')) return
        throw failure
      },
      options,
    )
  }
}

function changeOf(id: bigint, { ifMatch }: ChangeOptions = {}) {
  return { path: pathOf(id), header: ifMatch === undefined ? {} : { 'If-Match': ifMatch } }
}

function pathOf(id: bigint): { id: bigint } {
  checkId(id)
  return { id }
}

/** In JavaScript it may be anything. */
function checkId(id: unknown): void {
  if (typeof id === 'bigint') return
  throw new TypeError(`an id is a bigint such as 4n, not the ${typeof id} ${String(id)}`)
}

function taggedPlantOf(answer: Answer): TaggedPlant {
  return { plant: contentOf(answer, isStoredPlant), etag: entityTagOf(answer) }
}
