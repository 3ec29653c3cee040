/**
 * Not run but compiled, by `npm run types`: what the contract does not allow is an error here, and
 * an error that does not come is one too.
 */
import type { PlantService } from '../../service/plant-service.ts'
import type {
  ErrorCodeOf,
  Handlers,
  OperationAnswer,
  OperationId,
  OperationRequest,
} from '../../src/contract/operations.ts'

const stored = { id: 1n, name: 'x' }
const changed = { failure: 'plant-changed', message: 'x' } as const

export const created: OperationAnswer<'createPlant'>[] = [
  { body: { name: 'x' } },
  { body: { name: 'x', tag: 'y' } },
  { failure: 'plant-exists', message: 'x' },
  // @ts-expect-error a Plant has a name
  { body: {} },
  // @ts-expect-error a Plant has no id
  { body: { name: 'x', id: 1n } },
  // @ts-expect-error a tag is text
  { body: { name: 'x', tag: 1 } },
  // @ts-expect-error a missing tag is not there, rather than undefined
  { body: { name: 'x', tag: undefined } },
  // @ts-expect-error the contract has no ETag for it
  { body: { name: 'x' }, version: 'x' },
  // @ts-expect-error the contract has no such condition
  { failure: 'plant-eaten', message: 'x' },
  // @ts-expect-error createPlant does not answer 404
  { failure: 'unknown-path', message: 'x' },
]

export const listed: OperationAnswer<'listPlants'>[] = [
  { body: [] },
  { body: [stored, { ...stored, tag: 'y' }], next: { after: 1n } },
  { body: [], next: undefined },
  // @ts-expect-error a page is an array
  { body: stored },
  // @ts-expect-error an id is a bigint
  { body: [{ id: 1, name: 'x' }] },
  // @ts-expect-error a stored plant has an id
  { body: [{ name: 'x' }] },
  // @ts-expect-error an id is a bigint in the next query too
  { body: [], next: { after: 1 } },
  // @ts-expect-error the contract has no such parameter
  { body: [], next: { offset: 1n } },
  // @ts-expect-error the contract has no ETag for it
  { body: [], version: 'x' },
  // @ts-expect-error listPlants does not answer 404
  { failure: 'plant-not-found', message: 'x' },
]

export const fetched: OperationAnswer<'getPlant'>[] = [
  { body: stored, version: 'x' },
  { failure: 'plant-not-found', message: 'x' },
  // @ts-expect-error the contract requires an ETag
  { body: stored },
  // @ts-expect-error the contract has no Link for it
  { body: stored, version: 'x', next: { after: 1n } },
  changed,
]

export const replaced: OperationAnswer<'replacePlant'>[] = [
  { body: stored },
  changed,
  // @ts-expect-error the contract has no ETag for it
  { body: stored, version: 'x' },
]

export const updated: OperationAnswer<'updatePlant'>[] = [
  { body: stored, version: 'x' },
  changed,
  // @ts-expect-error the contract requires an ETag
  { body: stored },
]

export const deleted: OperationAnswer<'deletePlant'>[] = [
  {},
  changed,
  // @ts-expect-error 204 has no content
  { body: stored },
]

/** Whether two types are the same, and not only one a part of the other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type MembersOf<Id extends OperationId> = keyof OperationRequest<Id>

export const requests: true[] = [
  true satisfies Same<MembersOf<'createPlant'>, 'body'>,
  true satisfies Same<MembersOf<'listPlants'>, 'query'>,
  true satisfies Same<MembersOf<'getPlant'>, 'params' | 'expected'>,
  true satisfies Same<MembersOf<'replacePlant'>, 'params' | 'body' | 'expected'>,
  true satisfies Same<MembersOf<'updatePlant'>, 'params' | 'body' | 'expected'>,
  true satisfies Same<MembersOf<'deletePlant'>, 'params' | 'expected'>,
  true satisfies Same<OperationRequest<'getPlant'>['params']['id'], bigint>,
  // A parameter with a default is always there, one without may not be.
  true satisfies Same<OperationRequest<'listPlants'>['query']['limit'], number>,
  true satisfies Same<OperationRequest<'listPlants'>['query']['after'], bigint | undefined>,
  true satisfies Same<OperationRequest<'updatePlant'>['body']['tag'], string | null | undefined>,
  true satisfies Same<OperationRequest<'replacePlant'>['body']['tag'], string | undefined>,
  true satisfies Same<Extract<ErrorCodeOf<'deletePlant'>, `plant-${string}`>, NotDeleted>,
]

type NotDeleted = 'plant-not-found' | 'plant-changed'

// @ts-expect-error an operation has to have a handler
export const incomplete: Handlers = {}

export function takesExactIds(service: PlantService) {
  // @ts-expect-error an id is a bigint
  service.createPlant({ body: { id: 1, name: 'x' } })
  // @ts-expect-error an id is a bigint
  service.getPlant({ params: { id: 1 } })
  // @ts-expect-error versions are text
  service.deletePlant({ params: { id: 1n }, expected: [1n] })
}
