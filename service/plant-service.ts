import type { Handlers, OperationAnswer, OperationRequest } from '../src/contract/operations.ts'
import { conflictMessage, type PlantStore, type Refusal, versionOf } from './plant-store.ts'

/** The operations of the contract, a method for each `operationId`. */
export class PlantService implements Handlers {
  readonly #store: PlantStore

  constructor(store: PlantStore) {
    this.#store = store
  }

  async createPlant({
    body: { id, name, tag },
  }: OperationRequest<'createPlant'>): Promise<OperationAnswer<'createPlant'>> {
    const plant = tag === undefined ? { name } : { name, tag }
    const result = await this.#store.create({ id, ...plant })
    return result === 'conflict'
      ? { failure: 'plant-exists', message: conflictMessage(id) }
      : { body: plant }
  }

  async listPlants({
    query,
  }: OperationRequest<'listPlants'>): Promise<OperationAnswer<'listPlants'>> {
    const { plants, more } = await this.#store.list(query)
    const last = plants.at(-1)
    return { body: plants, next: more && last ? { after: last.id } : undefined }
  }

  async getPlant({
    params: { id },
    expected,
  }: OperationRequest<'getPlant'>): Promise<OperationAnswer<'getPlant'>> {
    const plant = await this.#store.get(id)
    if (plant === undefined) return notFound(id)
    const version = versionOf(plant)
    const changed = expected !== undefined && !expected.includes(version)
    return changed ? refused(id, 'changed') : { body: plant, version }
  }

  async replacePlant({
    params: { id },
    body: { name, tag },
    expected,
  }: OperationRequest<'replacePlant'>): Promise<OperationAnswer<'replacePlant'>> {
    const result = await this.#store.update(id, { name, tag: tag ?? null }, expected)
    return typeof result === 'string' ? refused(id, result) : { body: result }
  }

  async updatePlant({
    params: { id },
    body,
    expected,
  }: OperationRequest<'updatePlant'>): Promise<OperationAnswer<'updatePlant'>> {
    const result = await this.#store.update(id, body, expected)
    if (typeof result === 'string') return refused(id, result)
    return { body: result, version: versionOf(result) }
  }

  async deletePlant({
    params: { id },
    expected,
  }: OperationRequest<'deletePlant'>): Promise<OperationAnswer<'deletePlant'>> {
    const result = await this.#store.remove(id, expected)
    return result === 'removed' ? {} : refused(id, result)
  }
}

function refused(id: bigint, refusal: Refusal) {
  if (refusal === 'not-found') return notFound(id)
  const message = `plant ${id} has changed; fetch it again`
  return { failure: 'plant-changed', message } as const
}

function notFound(id: bigint) {
  return { failure: 'plant-not-found', message: `plant ${id} does not exist` } as const
}
