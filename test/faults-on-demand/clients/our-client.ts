import {
  createClient,
  type NewPlant,
  type PlantStoreClient,
  PlantStoreError,
  type StoredPlant,
  UnknownOutcomeError,
} from '../../../client/client.ts'
import type { Access, Client, Copy } from './client.ts'

/** The package's client. */
export class OurClient implements Client {
  readonly #plants: PlantStoreClient

  constructor({ timeoutMs: timeout, ...access }: Access) {
    this.#plants = createClient({ ...access, retryDelay: 10, timeout })
  }

  async create(plant: NewPlant): Promise<void> {
    await this.#plants.createPlant(plant)
  }

  async rename(id: bigint, name: string): Promise<void> {
    const { etag: ifMatch } = await this.#plants.getPlant(id)
    try {
      await this.#plants.updatePlant(id, { name }, { ifMatch })
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error
      const { plant } = await this.#plants.getPlant(id)
      if (plant.name !== name) throw error
    }
  }

  list(): Promise<StoredPlant[]> {
    return Array.fromAsync(this.#plants.plants())
  }

  async follow(copy: Copy, until: bigint): Promise<void> {
    const after = copy.cursor === undefined ? {} : { after: copy.cursor }
    try {
      for await (const change of this.#plants.changes(after)) {
        copy.apply(change)
        if (change.id === until) return
      }
    } catch (error) {
      if (!(error instanceof PlantStoreError) || error.condition !== 'cursor-expired') throw error
      const { cursor } = await this.#plants.listChanges({ after: 'latest' })
      copy.replace(await this.list(), cursor)
    }
  }
}
