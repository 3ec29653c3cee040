/**
 * Not run but compiled, by `npm run types`: what the contract does not allow is an error here, and
 * an error that does not come is one too.
 */
import type { PlantService } from '../../service/plant-service.ts'
import type { Handlers, OperationAnswer } from '../../src/contract/operations.ts'

type Answer = OperationAnswer<'createPlant'>

export const allowed: Answer[] = [
  { body: { name: 'x' } },
  { body: { name: 'x', tag: 'y' } },
  { failure: 'plant-exists', message: 'x' },
]

export const refused: Answer[] = [
  // @ts-expect-error a Plant has a name
  { body: {} },
  // @ts-expect-error a Plant has no id
  { body: { name: 'x', id: 1n } },
  // @ts-expect-error a tag is text
  { body: { name: 'x', tag: 1 } },
  // @ts-expect-error a missing tag is not there, rather than undefined
  { body: { name: 'x', tag: undefined } },
  // @ts-expect-error the contract has no such condition
  { failure: 'plant-eaten', message: 'x' },
  // @ts-expect-error createPlant does not answer 404
  { failure: 'unknown-path', message: 'x' },
]

// @ts-expect-error an operation has to have a handler
export const incomplete: Handlers = {}

export function takesExactIds(service: PlantService) {
  // @ts-expect-error an id is a bigint
  service.createPlant({ body: { id: 1, name: 'x' } })
}
