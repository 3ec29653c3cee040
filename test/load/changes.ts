import type { NewPlant, PlantPatch, StoredPlant } from '../../service/plant-store.ts'
import type { PlantModel } from '../stores/plant-model.ts'

export interface HttpRequest {
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: string
  /** The version that the plant must have. */
  readonly expected?: string | undefined
}

/** A request to change one plant. */
export interface ChangeRequest extends HttpRequest {
  readonly id: bigint
}

/** A change as an HTTP request, and as the model applies it. */
export interface Change extends ChangeRequest {
  /** Applies it to the model and returns the expected status. */
  readonly make: (model: PlantModel) => number
}

const REFUSED = { 'not-found': 404, changed: 412 } as const

export function creation(plant: NewPlant): Change {
  return {
    ...creationRequest(plant),
    make: (model) => (model.create(plant) === 'conflict' ? 409 : 200),
  }
}

export function creationRequest(plant: NewPlant): ChangeRequest {
  return { id: plant.id, path: '/plants', method: 'POST', body: toJson(plant) }
}

export function batchRequest(plants: readonly NewPlant[]): HttpRequest {
  return { path: '/plants/batch', method: 'POST', body: `[${plants.map(toJson)}]` }
}

/** JSON.stringify rejects bigints, which ids are. */
export function toJson({ id, name, tag }: NewPlant): string {
  return JSON.stringify({ name, tag }).replace('{', `{"id":${id},`)
}

export function readRequest({ id }: StoredPlant): HttpRequest {
  return { path: pathOf(id), method: 'GET' }
}

/** A PUT, without a tag if the plant has none. */
export function replacement({ id, name, tag }: NewPlant, expected?: string): Change {
  const body = JSON.stringify({ name, tag })
  const make = updating(id, { name, tag: tag ?? null }, expected)
  return { id, path: pathOf(id), method: 'PUT', body, expected, make }
}

/** A PATCH, with the tag null if the plant has none. */
export function update({ id, name, tag }: NewPlant, expected?: string): Change {
  const patch = { name, tag: tag ?? null }
  const make = updating(id, patch, expected)
  return { id, path: pathOf(id), method: 'PATCH', body: JSON.stringify(patch), expected, make }
}

export function removal({ id }: NewPlant, expected?: string): Change {
  const make = (model: PlantModel) => {
    const result = model.remove(id, versions(expected))
    return result === 'removed' ? 204 : REFUSED[result]
  }
  return { id, path: pathOf(id), method: 'DELETE', expected, make }
}

function pathOf(id: bigint): string {
  return `/plants/${id}`
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
