/** A service in memory, whose requests and responses take effect when the schedule says so. */

import type { Plant, StoredPlant } from '../../client/client.ts'
import { ConnectionError, PlantStoreError } from '../../client/client.ts'
import { hasSameContent } from '../../contract/plant.ts'
import type { PlantState } from '../../page/list/plant-list.ts'
import type { Schedule } from './schedules.ts'

/** What the network does with a request. */
export type Delay = 'none' | 'request lost' | 'response lost'

/** Watches the requests of a client. */
export interface Watcher {
  onRequest(id: bigint): void
  /** Called before a stored plant is replaced or deleted. */
  onOverwrite(stored: Plant): void
  onResponse(id: bigint): void
}

/** Plants whose names are never used again. */
export class PageService {
  readonly plants = new Map<bigint, Plant>()
  /** Who made the last change of a plant. */
  readonly authors = new Map<bigint, 'page' | 'others'>()
  /** The names that were ever stored. */
  readonly names = new Set<string>()
  onChange: (state: PlantState) => void = () => {}
  readonly #schedule: Schedule
  readonly #nextDelay: () => Delay
  #names = 0

  constructor(schedule: Schedule, nextDelay: () => Delay) {
    this.#schedule = schedule
    this.#nextDelay = nextDelay
  }

  newName(): string {
    return `name ${++this.#names}`
  }

  changeByOthers(id: bigint, isRemoval: boolean): void {
    if (isRemoval && !this.plants.has(id)) return
    this.#put(id, isRemoval ? undefined : { name: this.newName() }, 'others')
  }

  /**
   * What the page uses of a client. An ETag is the name of the plant.
   *
   * @param isLeft whether the person has left the page, so that its calls never resolve
   */
  client(watcher: Watcher, isLeft: () => boolean) {
    const { plants } = this
    const call = async <Result>(id: bigint, effect: () => Result): Promise<Result> => {
      if (isLeft()) return new Promise(() => {})
      watcher.onRequest(id)
      const [response] = await Promise.allSettled([this.#transfer(id, effect)])
      if (isLeft()) return new Promise(() => {})
      watcher.onResponse(id)
      if (response.status === 'rejected') throw response.reason
      return response.value
    }
    const overwrite = (id: bigint, plant: Plant | undefined, ifMatch: string) => {
      const stored = this.#find(id)
      if (ifMatch !== stored.name) throw new PlantStoreError('plant-changed', 'changed')
      watcher.onOverwrite(stored)
      this.#put(id, plant, 'page')
    }
    return {
      createPlant: ({ id, ...plant }: StoredPlant) =>
        call(id, () => {
          const stored = plants.get(id)
          if (stored === undefined) this.#put(id, plant, 'page')
          else if (!hasSameContent(stored, plant))
            throw new PlantStoreError('plant-exists', 'exists')
        }),
      getPlant: (id: bigint) =>
        call(id, () => {
          const plant = this.#find(id)
          return { plant: { ...plant, id }, etag: plant.name }
        }),
      updatePlant: (id: bigint, patch: Pick<Plant, 'name'>, { ifMatch }: { ifMatch: string }) =>
        call(id, () => overwrite(id, { ...this.#find(id), ...patch }, ifMatch)),
      deletePlant: (id: bigint, { ifMatch }: { ifMatch: string }) =>
        call(id, () => overwrite(id, undefined, ifMatch)),
    }
  }

  #find(id: bigint): Plant {
    const plant = this.plants.get(id)
    if (plant === undefined) throw new PlantStoreError('plant-not-found', 'not found')
    return plant
  }

  #put(id: bigint, plant: Plant | undefined, author: 'page' | 'others'): void {
    if (plant === undefined) this.plants.delete(id)
    else this.plants.set(id, plant)
    if (plant !== undefined) this.names.add(plant.name)
    this.authors.set(id, author)
    this.onChange({ id, plant })
  }

  async #transfer<Result>(id: bigint, effect: () => Result): Promise<Result> {
    await this.#schedule.step(`request ${id}`)
    const delay = this.#nextDelay()
    if (delay === 'request lost') throw new ConnectionError('lost')
    const [response] = await Promise.allSettled([Promise.try(effect)])
    await this.#schedule.step(`response ${id}`)
    if (delay === 'response lost') throw new ConnectionError('lost')
    if (response.status === 'rejected') throw response.reason
    return response.value
  }
}
