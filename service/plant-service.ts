import type {
  Client,
  Handlers,
  OperationRequest,
  OperationResult,
} from '../core/contract/operation-types.ts'
import { known } from '../core/known.ts'
import { countResults, findRepetition, hasTwoConditions, toPlantChange } from './change-list.ts'
import { LIST_TOO_LARGE, ofItem, toFailure, toIncomplete, toMismatch } from './failure-messages.ts'
import type { PlantCodec } from './plant-codec.ts'
import { type ListQuery, toPlantFilter } from './plant-query.ts'
import { countPlants, listSorted, listTags, searchPlants } from './read-jobs.ts'
import type { ReadQueues } from './read-queue.ts'
import {
  assertReadable,
  type RestrictionReader,
  readOnlyReason,
  readRestriction,
} from './restriction.ts'
import { hasMember, toKeyedRequest, toSortedRequest } from './sorting.ts'
import type { ChangePage, NoChanges } from './store/change-feed.ts'
import { contentVersion } from './store/content-version.ts'
import { hasSameContent } from './store/plant-content.ts'
import { type PlantFilter, readsText } from './store/plant-filter.ts'
import { isRefusal, isSearch, type RequestStore, type SortedRequest } from './store/plant-store.ts'
import type { SortPlace } from './store/sort-index.ts'

/** The operations of the contract: one method for each `operationId`. */
export class PlantService implements Handlers {
  readonly #store: RequestStore & RestrictionReader
  readonly #reads: ReadQueues
  readonly #codec: PlantCodec

  constructor(store: RequestStore & RestrictionReader, reads: ReadQueues, codec: PlantCodec) {
    this.#store = store
    this.#reads = reads
    this.#codec = codec
  }

  async createPlant({
    body,
  }: OperationRequest<'createPlant'>): Promise<OperationResult<'createPlant'>> {
    const plant = this.#codec.toPlant(body)
    const result = await this.#store.change({ ...plant, type: 'create' })
    return result === 'plant-exists'
      ? toFailure(plant.id, result)
      : { body: this.#codec.contentJson(plant) }
  }

  async createPlants({
    body,
  }: OperationRequest<'createPlants'>): Promise<OperationResult<'createPlants'>> {
    const plants = body.map((plant) => this.#codec.toPlant(plant))
    const repetition = findRepetition(plants, hasSameContent)
    if (repetition !== undefined) {
      const { id, first, second } = repetition
      const message = `plant ${id} differs from body/${first}, which has the same id`
      return ofItem(second, { failure: 'repeated-id', message })
    }
    const changes = plants.map((plant) => ({ type: 'create' as const, ...plant }))
    const results = await this.#store.apply(changes, 'all-or-none')
    if (results === 'too-large') return LIST_TOO_LARGE
    const conflict = results.indexOf('plant-exists')
    if (conflict !== -1) {
      return ofItem(conflict, toFailure(known(plants[conflict]).id, 'plant-exists'))
    }
    const { created, unchanged } = countResults(results)
    return { body: { created, replayed: unchanged } }
  }

  async changePlants({
    body,
  }: OperationRequest<'changePlants'>): Promise<OperationResult<'changePlants'>> {
    const repetition = findRepetition(body)
    if (repetition !== undefined) {
      const { id, first, second } = repetition
      const message = `body/${first} already changes plant ${id}`
      return ofItem(second, { failure: 'repeated-id', message })
    }
    const ambiguous = body.findIndex(hasTwoConditions)
    if (ambiguous >= 0) {
      const message = 'must not have both ifMatch and ifContent'
      return { failure: 'invalid-body', message: `body/${ambiguous} ${message}` }
    }
    const changes = body.map((change) => toPlantChange(this.#codec, change))
    const results = await this.#store.apply(changes, 'all-or-none')
    if (results === 'too-large') return LIST_TOO_LARGE
    for (const [index, result] of results.entries()) {
      if (isRefusal(result)) return ofItem(index, toFailure(known(body[index]).id, result))
    }
    return { body: countResults(results) }
  }

  async listPlants(
    { query }: OperationRequest<'listPlants'>,
    client: Client,
  ): Promise<OperationResult<'listPlants'>> {
    const filter = toPlantFilter(query, this.#codec)
    if ('problem' in filter) {
      return { failure: 'invalid-parameter', message: `the query parameter ${filter.problem}` }
    }
    const count = query.count
      ? await countPlants(this.#store, filter, this.#reads.large.jobFor(client))
      : undefined
    const page = await this.#readPage(query, filter, client)
    if (page === undefined) return toIncomplete(query.sort ?? 'id')
    return {
      body: this.#codec.pageJson(page),
      next: page.next === undefined ? undefined : toPosition(page.next),
      ...(count && { count }),
    }
  }

  async #readPage(query: ListQuery, filter: PlantFilter, client: Client) {
    const { id, after, limit, sort = 'id' } = query
    if (id !== undefined) {
      const ids = inOrder(id, after)
      return this.#reads.of(ids.length).take(client, () => this.#store.getAll(ids))
    }
    const order = this.#codec.toOrder(sort)
    if (hasMember(order)) return this.#readSorted(toSortedRequest(query, filter, order), client)
    const { isDescending } = order
    const keyed = toKeyedRequest(query, filter, isDescending)
    const sorted = keyed && (await this.#readSorted(keyed, client))
    if (sorted !== undefined) return { ...sorted, next: sorted.next?.id }
    const request = { ...filter, after, limit, isDescending }
    return isSearch(request)
      ? searchPlants(this.#store, request, this.#reads.large.jobFor(client))
      : this.#reads.of(limit).take(client, () => this.#store.list(request))
  }

  #readSorted(request: SortedRequest, client: Client) {
    const reads =
      request.tag === undefined && !readsText(request)
        ? this.#reads.of(request.limit)
        : this.#reads.large
    return listSorted(this.#store, request, reads.jobFor(client))
  }

  async listTags(
    { query }: OperationRequest<'listTags'>,
    client: Client,
  ): Promise<OperationResult<'listTags'>> {
    const page = await listTags(this.#store, query, this.#reads.large.jobFor(client))
    if (page === 'malformed') {
      const message = 'the query parameter after must be a position from a Link header'
      return { failure: 'invalid-parameter', message }
    }
    const { tags, next } = page
    return { body: tags, next: next === undefined ? undefined : { after: next } }
  }

  async getPlant(
    { params: { id }, expected }: OperationRequest<'getPlant'>,
    client: Client,
  ): Promise<OperationResult<'getPlant'>> {
    const plant = await this.#reads.of(1).take(client, () => this.#store.get(id))
    if (plant === undefined) return toFailure(id, 'plant-not-found')
    const version = contentVersion(plant)
    const matches = expected === undefined || expected.includes(version)
    return matches
      ? { body: this.#codec.plantJson(plant), version }
      : toFailure(id, 'plant-changed')
  }

  async replacePlant({
    params: { id },
    body: { id: bodyId = id, ...content },
    expected,
  }: OperationRequest<'replacePlant'>): Promise<OperationResult<'replacePlant'>> {
    if (bodyId !== id) return toMismatch(id, bodyId)
    const result = await this.#store.change({
      ...this.#codec.toPlant({ ...content, id }),
      type: 'replace',
      expected,
    })
    if (typeof result === 'string') return toFailure(id, result)
    // With an ETag, a client can assume that the plant is what it sent (RFC 9110 §9.3.4).
    const version = this.#codec.isExactly(result, content) ? contentVersion(result) : undefined
    return { body: this.#codec.plantJson(result), version }
  }

  async updatePlant({
    params: { id },
    body: { id: bodyId = id, ...patch },
    expected,
  }: OperationRequest<'updatePlant'>): Promise<OperationResult<'updatePlant'>> {
    if (bodyId !== id) return toMismatch(id, bodyId)
    const result = await this.#store.change({
      type: 'update',
      id,
      patch: this.#codec.toPatch(patch),
      expected,
    })
    if (typeof result === 'string') return toFailure(id, result)
    return { body: this.#codec.plantJson(result), version: contentVersion(result) }
  }

  async deletePlant({
    params: { id },
    expected,
  }: OperationRequest<'deletePlant'>): Promise<OperationResult<'deletePlant'>> {
    const result = await this.#store.change({ type: 'remove', id, expected })
    if (result === 'removed') return {}
    return toFailure(id, result === 'unchanged' ? 'plant-not-found' : result)
  }

  async listChanges(
    { query: { after, limit } }: OperationRequest<'listChanges'>,
    client: Client,
  ): Promise<OperationResult<'listChanges'>> {
    const page = await this.#reads
      .of(limit)
      .take(client, () => this.#store.readChanges({ after, limit }))
    return changesResult(this.#codec, page)
  }

  async getToken(
    _request: OperationRequest<'getToken'>,
    { grant: { name, expiresAt, ...grant } }: Client,
  ): Promise<OperationResult<'getToken'>> {
    const restriction = await readRestriction(this.#store)
    assertReadable(restriction)
    return {
      body: {
        name,
        scopes: [...grant.scopes],
        ...(expiresAt && expiresAt <= LAST_DATE_TIME && { expiresAt: expiresAt.toISOString() }),
        ...(restriction && { readOnlyReason: readOnlyReason(restriction) }),
      },
    }
  }
}

/** A `date-time` has a year of four digits (RFC 3339 §5.6). What is valid for longer can count as permanent. */
const LAST_DATE_TIME = new Date('9999-12-31T23:59:59.999Z')

/** The parameters of the page that follows a place. */
function toPosition(next: bigint | SortPlace) {
  if (typeof next === 'bigint') return { after: next }
  return { after: next.id, afterKey: next.key.toString('base64url') }
}

/** The distinct ids that are greater than `after`, in ascending order. */
function inOrder(ids: readonly bigint[], after: bigint | undefined): bigint[] {
  return [...new Set(ids)]
    .filter((id) => after === undefined || id > after)
    .sort((one, other) => (one < other ? -1 : 1))
}

/** The result of `listChanges` for a page of the feed, or for the reason why there is none. */
export function changesResult(
  codec: PlantCodec,
  page: ChangePage | NoChanges,
): OperationResult<'listChanges'> {
  if (typeof page === 'string') return NO_CHANGES[page]
  return { body: codec.changesJson(page.changes), next: { after: page.next } }
}

/** The failure for each reason why there are no changes. */
const NO_CHANGES = {
  malformed: {
    failure: 'cursor-malformed',
    message:
      'malformed cursor: expected latest, or a cursor from a change, a Link header or an export',
  },
  expired: {
    failure: 'cursor-expired',
    message:
      'the changes after this cursor are no longer available: ' +
      'take a new cursor with after=latest, then read all plants again',
  },
} as const
