import type { PlantCount, PlantStoreClient } from '../../client/client.ts'
import { isTransient } from '../errors/error-text.ts'
import { Model } from '../model/model.ts'
import type { Filter } from './filter.ts'
import type { Surroundings } from './live-feed.ts'

/** The pause between two counts, at least, in milliseconds. */
const PAUSE_MS = 1000

/** How much longer than a count the pause after it is, at least, because a service counts for one client at a time. */
const PAUSE_FACTOR = 10

/** How many plants a filter selects, according to the service. */
export class PlantTotal extends Model {
  readonly #client: PlantStoreClient
  readonly #filter: Filter
  readonly #surroundings: Pick<Surroundings, 'pause'>
  readonly #controller = new AbortController()
  #count: PlantCount | undefined
  #isStale = true
  #isBusy = false

  constructor(client: PlantStoreClient, filter: Filter, surroundings: Pick<Surroundings, 'pause'>) {
    super()
    this.#client = client
    this.#filter = filter
    this.#surroundings = surroundings
  }

  /** The latest count. Undefined before the first one. */
  get count(): PlantCount | undefined {
    return this.#count
  }

  /** Makes the next update count again. */
  invalidate(): void {
    this.#isStale = true
  }

  /** Counts if something has changed, and again after changes in the meantime. */
  async update(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    const { signal } = this.#controller
    while (this.#isStale) {
      this.#isStale = false
      const start = performance.now()
      try {
        this.#count = await this.#client.countPlants(this.#filter, { signal })
        this.changed()
      } catch (error) {
        this.#isStale = isTransient(error)
      }
      const milliseconds = performance.now() - start
      await this.#surroundings.pause(Math.max(PAUSE_MS, PAUSE_FACTOR * milliseconds))
    }
    this.#isBusy = false
  }

  stop(): void {
    this.#controller.abort()
  }
}
