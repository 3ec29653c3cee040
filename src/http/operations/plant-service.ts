import type {
  Client,
  Handlers,
  OperationRequest,
  OperationResult,
} from '../../../contract/operation-types.ts'
import { hasSameContent } from '../../../contract/plant.ts'
import type { ChangePage, NoChanges } from '../../../service/change-feed.ts'
import type { LongReads } from '../../../service/long-reads.ts'
import {
  conflictMessage,
  contentVersion,
  type NewPlant,
  type NoMatch,
  type PlantFilter,
  type RequestStore,
  type StoredPlant,
} from '../../../service/plant-store.ts'
import { type RestrictionReader, readOnlyReason } from '../../../service/restriction.ts'
import type { AcquireSlot } from '../../../service/short-read.ts'

type ListQuery = OperationRequest<'listPlants'>['query']

/** The operations of the contract: one method for each `operationId`. */
export class PlantService implements Handlers {
  readonly #store: RequestStore & RestrictionReader
  readonly #longReads: LongReads

  constructor(store: RequestStore & RestrictionReader, longReads: LongReads) {
    this.#store = store
    this.#longReads = longReads
  }

  async createPlant({
    body: { id, name, tag },
  }: OperationRequest<'createPlant'>): Promise<OperationResult<'createPlant'>> {
    const plant = tag === undefined ? { name } : { name, tag }
    const result = await this.#store.create({ id, ...plant })
    return result === 'conflict'
      ? { failure: 'plant-exists', message: conflictMessage(id) }
      : { body: plant }
  }

  async createPlants({
    body,
  }: OperationRequest<'createPlants'>): Promise<OperationResult<'createPlants'>> {
    const plants = distinctPlants(body)
    if ('indexes' in plants) {
      const {
        id,
        indexes: [first, second],
      } = plants
      const message = `body/${second}: plant ${id} differs from body/${first}, which has the same id`
      return { failure: 'repeated-id', message }
    }
    const changes = plants.map((plant) => ({ ...plant, type: 'create' as const }))
    const results = await this.#store.apply(changes, 'all-or-none')
    const conflict = plants[results.indexOf('conflict')]
    if (conflict !== undefined) {
      const message = `body/${body.indexOf(conflict)}: ${conflictMessage(conflict.id)}`
      return { failure: 'plant-exists', message }
    }
    const created = results.filter((result) => result === 'created').length
    return { body: { created, replayed: body.length - created } }
  }

  async listPlants(
    { query }: OperationRequest<'listPlants'>,
    client: Client,
  ): Promise<OperationResult<'listPlants'>> {
    const contradiction = findContradiction(query)
    if (contradiction !== undefined) return { failure: 'invalid-parameter', message: contradiction }
    const { q: text = '', untagged } = query
    const filter = { text, tag: untagged ? null : query.tag }
    return this.#longReads.perform(client, (acquireSlot) =>
      query.count
        ? this.#readCountedPage(query, filter, acquireSlot)
        : this.#readPage(query, filter, acquireSlot),
    )
  }

  async #readCountedPage(query: ListQuery, filter: PlantFilter, acquireSlot: AcquireSlot) {
    const count = await this.#store.count(filter, acquireSlot)
    // The count has acquired the slot.
    const page = await this.#readPage(query, filter)
    return { ...page, count }
  }

  async #readPage(
    { id, after, limit }: ListQuery,
    { text, tag }: PlantFilter,
    acquireSlot?: AcquireSlot,
  ) {
    const { json, next } = await (id !== undefined
      ? this.#store.getAll(inOrder(id, after), acquireSlot)
      : text !== '' || tag === null
        ? this.#store.search({ text, tag, after, limit }, acquireSlot)
        : this.#store.list({ tag, after, limit }, acquireSlot))
    return { body: json, next: next === undefined ? undefined : { after: next } }
  }

  async listTags(
    { query }: OperationRequest<'listTags'>,
    client: Client,
  ): Promise<OperationResult<'listTags'>> {
    const page = await this.#longReads.perform(client, (acquireSlot) =>
      this.#store.listTags(query, acquireSlot),
    )
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
    const plant = await this.#longReads.perform(client, (acquireSlot) =>
      this.#store.get(id, acquireSlot),
    )
    if (plant === undefined) return toFailure(id, 'not-found')
    const version = contentVersion(plant)
    const matches = expected === undefined || expected.includes(version)
    return matches ? { body: plant, version } : toFailure(id, 'changed')
  }

  async replacePlant({
    params: { id },
    body: { id: bodyId = id, name, tag },
    expected,
  }: OperationRequest<'replacePlant'>): Promise<OperationResult<'replacePlant'>> {
    if (bodyId !== id) return toMismatch(id, bodyId)
    return toUpdated(id, await this.#store.update(id, { name, tag: tag ?? null }, expected))
  }

  async updatePlant({
    params: { id },
    body: { id: bodyId = id, name, tag },
    expected,
  }: OperationRequest<'updatePlant'>): Promise<OperationResult<'updatePlant'>> {
    if (bodyId !== id) return toMismatch(id, bodyId)
    // Undocumented members, such as a number that is not exact, do not reach the store.
    const patch = { ...(name !== undefined && { name }), ...(tag !== undefined && { tag }) }
    return toUpdated(id, await this.#store.update(id, patch, expected))
  }

  async deletePlant({
    params: { id },
    expected,
  }: OperationRequest<'deletePlant'>): Promise<OperationResult<'deletePlant'>> {
    const result = await this.#store.remove(id, expected)
    return result === 'removed' ? {} : toFailure(id, result)
  }

  async listChanges(
    { query: { after, limit } }: OperationRequest<'listChanges'>,
    client: Client,
  ): Promise<OperationResult<'listChanges'>> {
    const page = await this.#longReads.perform(client, (acquireSlot) =>
      this.#store.readChanges({ after, limit }, acquireSlot),
    )
    return changesResult(page)
  }

  async getToken(
    _request: OperationRequest<'getToken'>,
    { grant: { name, expiresAt, ...grant } }: Client,
  ): Promise<OperationResult<'getToken'>> {
    const restriction = await this.#store.readRestriction()
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

/** The message about query parameters that contradict each other; undefined if none do. */
function findContradiction({ id, q, tag, untagged, count }: ListQuery): string | undefined {
  if (untagged && tag !== undefined)
    return 'the query parameter untagged cannot be combined with tag'
  const isFiltered = (q ?? tag ?? untagged ?? count) !== undefined
  return id !== undefined && isFiltered
    ? 'the query parameter id cannot be combined with q, tag, untagged or count'
    : undefined
}

/** The distinct ids that are greater than `after`, in ascending order. */
function inOrder(ids: readonly bigint[], after: bigint | undefined): bigint[] {
  return [...new Set(ids)]
    .filter((id) => after === undefined || id > after)
    .sort((one, other) => (one < other ? -1 : 1))
}

/** The result of `listChanges` for a page of the feed, or for the reason why there is none. */
export function changesResult(page: ChangePage | NoChanges): OperationResult<'listChanges'> {
  if (typeof page === 'string') return NO_CHANGES[page]
  return { body: page.changes, next: { after: page.next } }
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

function toMismatch(pathId: bigint, bodyId: bigint) {
  const message = `body/id is ${bodyId}, but the path has the id ${pathId}`
  return { failure: 'id-mismatch', message } as const
}

function toUpdated(id: bigint, result: StoredPlant | NoMatch) {
  if (typeof result === 'string') return toFailure(id, result)
  return { body: result, version: contentVersion(result) }
}

function toFailure(id: bigint, reason: NoMatch) {
  return reason === 'not-found'
    ? ({ failure: 'plant-not-found', message: `plant ${id} does not exist` } as const)
    : ({ failure: 'plant-changed', message: `plant ${id} has changed; fetch it again` } as const)
}

/** A batch of which two plants have the same id but different content. */
interface RepeatedId {
  readonly id: bigint
  /** The indexes of the two plants, in ascending order. */
  readonly indexes: readonly [first: number, second: number]
}

/**
 * Removes plants that repeat an earlier one of the batch.
 *
 * @returns plants with distinct ids, in the same order; or the first plant that differs from an earlier one with its id
 */
function distinctPlants(plants: readonly NewPlant[]): readonly NewPlant[] | RepeatedId {
  const distinct = new Map<bigint, NewPlant>()
  for (const [index, plant] of plants.entries()) {
    const earlier = distinct.get(plant.id)
    if (earlier === undefined) distinct.set(plant.id, plant)
    else if (!hasSameContent(earlier, plant))
      return { id: plant.id, indexes: [plants.indexOf(earlier), index] }
  }
  return distinct.size === plants.length ? plants : [...distinct.values()]
}
