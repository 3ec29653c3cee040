/**
 * Type tests for handlers: compiled by `npm run types`, never run. An expected error that does not occur fails
 * them too.
 */
import type {
  ErrorCodeOf,
  Handlers,
  OperationId,
  OperationRequest,
  OperationResult,
} from '../../../core/contract/operation-types.ts'
import type { PlantService } from '../../../service/plant-service.ts'

const stored = { id: 1n, name: 'x' }
const changed = { failure: 'plant-changed', message: 'x' } as const

export const created: OperationResult<'createPlant'>[] = [
  { body: { name: 'x' } },
  { body: { name: 'x', tag: 'y' } },
  { failure: 'plant-exists', message: 'x' },
  // @ts-expect-error a Plant has a name
  { body: {} },
  // @ts-expect-error a Plant has no id
  { body: { name: 'x', id: 1n } },
  // @ts-expect-error a tag is a string
  { body: { name: 'x', tag: 1 } },
  // @ts-expect-error a missing tag is omitted, not undefined
  { body: { name: 'x', tag: undefined } },
  // @ts-expect-error the contract has no such error code
  { failure: 'plant-eaten', message: 'x' },
  // @ts-expect-error createPlant has no 404
  { failure: 'unknown-path', message: 'x' },
]

export const listed: OperationResult<'listPlants'>[] = [
  { body: [] },
  { body: [stored, { ...stored, tag: 'y' }], next: { after: 1n } },
  { body: [], next: undefined },
  { body: [], count: { plants: 100_000, isExact: false } },
  // @ts-expect-error a count says whether it is exact
  { body: [], count: { plants: 1 } },
  // @ts-expect-error a page is an array
  { body: stored },
  // @ts-expect-error a stored plant has an id
  { body: [{ name: 'x' }] },
  // @ts-expect-error an id is a bigint in the next query too
  { body: [], next: { after: 1 } },
  // @ts-expect-error the contract has no such parameter
  { body: [], next: { offset: 1n } },
  // @ts-expect-error the contract has no ETag for this operation
  { body: [], version: 'x' },
]

export const fetched: OperationResult<'getPlant'>[] = [
  { body: stored, version: 'x' },
  { failure: 'plant-not-found', message: 'x' },
  // @ts-expect-error the contract requires an ETag
  { body: stored },
  // @ts-expect-error the contract has no Link for this operation
  { body: stored, version: 'x', next: { after: 1n } },
  changed,
]

export const deleted: OperationResult<'deletePlant'>[] = [
  {},
  changed,
  // @ts-expect-error 204 has no content
  { body: stored },
]

const change = { cursor: 'x', at: 'x', type: 'removed', id: 1n } as const

export const changes: OperationResult<'listChanges'>[] = [
  { body: [], next: { after: 'x' } },
  { body: [change] as readonly (typeof change)[] },
  { failure: 'cursor-expired', message: 'x' },
  // @ts-expect-error a change has a cursor
  { body: [{ ...change, cursor: undefined }] },
  // @ts-expect-error the contract has no such type of change
  { body: [{ ...change, type: 'eaten' }] },
]

/** Whether two types are identical, not only assignable. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type MembersOf<Id extends OperationId> = keyof OperationRequest<Id>

export const requests: true[] = [
  true satisfies Same<MembersOf<'createPlant'>, 'body'>,
  true satisfies Same<MembersOf<'createPlants'>, 'body'>,
  true satisfies Same<MembersOf<'changePlants'>, 'body'>,
  true satisfies Same<MembersOf<'listPlants'>, 'query'>,
  true satisfies Same<MembersOf<'getPlant'>, 'params' | 'expected'>,
  true satisfies Same<MembersOf<'replacePlant'>, 'params' | 'body' | 'expected'>,
  true satisfies Same<MembersOf<'updatePlant'>, 'params' | 'body' | 'expected'>,
  true satisfies Same<MembersOf<'deletePlant'>, 'params' | 'expected'>,
  true satisfies Same<MembersOf<'listTags'>, 'query'>,
  true satisfies Same<MembersOf<'getToken'>, never>,
  true satisfies Same<MembersOf<'listChanges'>, 'query'>,
  true satisfies Same<OperationRequest<'getPlant'>['params']['id'], bigint>,
  // Only a parameter with a default is always present.
  true satisfies Same<OperationRequest<'listPlants'>['query']['limit'], number>,
  true satisfies Same<OperationRequest<'listPlants'>['query']['after'], bigint | undefined>,
  true satisfies Same<OperationRequest<'updatePlant'>['body']['tag'], string | null | undefined>,
  true satisfies Same<OperationRequest<'replacePlant'>['body']['tag'], string | undefined>,
  true satisfies Same<Extract<ErrorCodeOf<'deletePlant'>, `plant-${string}`>, NotDeleted>,
]

type NotDeleted = 'plant-not-found' | 'plant-changed'

// @ts-expect-error every operation needs a handler
export const incomplete: Handlers = {}

export function takesExactIds(service: PlantService) {
  // @ts-expect-error an id is a bigint
  service.createPlant({ body: { id: 1, name: 'x' } })
  // @ts-expect-error an id is a bigint
  service.getPlant({ params: { id: 1 } })
  // @ts-expect-error a version is a string
  service.deletePlant({ params: { id: 1n }, expected: [1n] })
}
