import type { Handlers, OperationAnswer, OperationRequest } from '../src/contract/operations.ts'
import type { PlantStore } from './plant-store.ts'

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
      ? { failure: 'plant-exists', message: `plant ${id} is already stored with other content` }
      : { body: plant }
  }
}
