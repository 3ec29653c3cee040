import type { NewPlant, PlantPatch } from '../../service/plant-store.ts'
import type { PlantModel } from '../stores/plant-model.ts'

/** A request to change a plant. */
export interface ChangeRequest {
  readonly id: bigint
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: string
  /** The version that the plant must have. */
  readonly expected?: string | undefined
}

/** A change as it is asked for over HTTP, and as the model makes it. */
export interface Change extends ChangeRequest {
  /** Makes it, and returns the status of the answer. */
  readonly make: (model: PlantModel) => number
}

const REFUSED = { 'not-found': 404, changed: 412 } as const

export function creation(plant: NewPlant): Change {
  return {
    ...creationRequest(plant),
    make: (model) => (model.create(plant) === 'conflict' ? 409 : 200),
  }
}

export function creationRequest({ id, name, tag }: NewPlant): ChangeRequest {
  // An id is a bigint, which JSON.stringify does not take.
  const body = JSON.stringify({ name, tag }).replace('{', `{"id":${id},`)
  return { id, method: 'POST', body }
}

/** A PUT, which has no tag where the plant is to have none. */
export function replacement({ id, name, tag }: NewPlant, expected?: string): Change {
  const body = JSON.stringify({ name, tag })
  const make = updating(id, { name, tag: tag ?? null }, expected)
  return { id, method: 'PUT', body, expected, make }
}

/** A PATCH, which has a tag of null where the plant is to have none. */
export function update({ id, name, tag }: NewPlant, expected?: string): Change {
  const patch = { name, tag: tag ?? null }
  const make = updating(id, patch, expected)
  return { id, method: 'PATCH', body: JSON.stringify(patch), expected, make }
}

export function removal({ id }: NewPlant, expected?: string): Change {
  const make = (model: PlantModel) => {
    const result = model.remove(id, versions(expected))
    return result === 'removed' ? 204 : REFUSED[result]
  }
  return { id, method: 'DELETE', expected, make }
}

function updating(id: bigint, patch: PlantPatch, expected?: string) {
  return (model: PlantModel) => {
    const result = model.update(id, patch, versions(expected))
    return typeof result === 'string' ? REFUSED[result] : 200
  }
}

function versions(expected: string | undefined): string[] | undefined {
  return expected === undefined ? undefined : [expected]
}
