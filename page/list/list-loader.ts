import type { Page, PlantStoreClient } from '../../client/client.ts'
import { retry } from '../../core/time/retries.ts'
import { isTransient } from '../errors/error-text.ts'
import { Model } from '../model/model.ts'
import type { Surroundings } from './live-feed.ts'
import {
  type Effect,
  PAGE_SIZE,
  type PlantList,
  type PlantState,
  type Range,
} from './plant-list.ts'
import type { Place } from './plant-order.ts'

/** How many rows below the visible ones are fetched before they come into view. */
const AHEAD = 200

/** The pause before plants that could not be loaded are requested again, in milliseconds. */
const RETRY_MS = 3000

/** Fetches the plants of a list as they come into view. */
export class ListLoader extends Model {
  readonly list: PlantList
  readonly #client: PlantStoreClient
  readonly #surroundings: Pick<Surroundings, 'pause'>
  readonly #controller = new AbortController()
  #isLoading = false
  #problem: unknown
  /** The rows in view. */
  #from = 0
  #to = 0
  /** Fetches the page after the last row. Undefined before the first one. */
  #next: Page['next']
  /** Changes that the response to the current request may lack. */
  #changes: PlantState[] = []

  constructor(
    client: PlantStoreClient,
    list: PlantList,
    surroundings: Pick<Surroundings, 'pause'>,
  ) {
    super()
    this.#client = client
    this.#surroundings = surroundings
    this.list = list
  }

  get isLoading(): boolean {
    return this.#isLoading
  }

  /** The error that ended loading. Undefined unless it must be tried again. */
  get problem(): unknown {
    return this.#problem
  }

  /**
   * Loads the plants of some rows, and those that follow.
   *
   * @param kept ids of plants that must stay in memory
   */
  show(from: number, to: number, kept: readonly bigint[] = []): void {
    this.#from = from
    this.#to = to
    this.list.forget(from, to, kept)
    if (this.#problem === undefined) this.#load()
  }

  /** Tries again what has failed. */
  retry(): void {
    this.#problem = undefined
    this.#load()
  }

  /** Applies a change that may be newer than the plants that are being loaded. */
  apply(change: PlantState): Effect {
    if (this.#isLoading) this.#changes.push(change)
    const effect = this.list.apply(change)
    if (effect !== 'none') this.changed()
    return effect
  }

  stop(): void {
    this.#controller.abort()
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return
    const { signal } = this.#controller
    let problem: unknown
    const attempt = async () => {
      // A person may have tried again meanwhile.
      if (this.#problem === problem) await this.#loadMissing()
    }
    const delayAfter = (error: unknown) => {
      problem = error
      return isTransient(error) ? 0 : undefined
    }
    const wait = (milliseconds: number) => this.#surroundings.pause(milliseconds)
    await retry(attempt, { delayMs: RETRY_MS, delayAfter, signal, wait }).catch(() => {})
  }

  async #loadMissing(): Promise<void> {
    this.#problem = undefined
    this.#isLoading = true
    try {
      while (await this.#loadNext()) {
        for (const change of this.#changes.splice(0)) this.list.apply(change)
        this.changed()
      }
    } catch (error) {
      if (!this.#controller.signal.aborted) this.#problem = error
      throw error
    } finally {
      this.#changes = []
      this.#isLoading = false
      this.changed()
    }
  }

  /** @returns whether anything was missing */
  async #loadNext(): Promise<boolean> {
    const missing = this.list.missing(this.#from, this.#to)
    if (missing !== undefined) {
      await this.#refill(missing)
      return true
    }
    if (this.list.isComplete || this.list.length >= this.#to + AHEAD) return false
    const { signal } = this.#controller
    const page = await (this.#next?.({ signal }) ?? this.#fetch(this.list.end))
    signal.throwIfAborted()
    this.#next = page.next
    this.list.append(page.plants, page.next === undefined)
    return true
  }

  async #refill(range: Range): Promise<void> {
    let page = await this.#fetch(range.after)
    // A search can find nothing for several pages.
    while (page.plants.length === 0 && page.next !== undefined) {
      page = await page.next({ signal: this.#controller.signal })
    }
    this.#controller.signal.throwIfAborted()
    this.list.fill(range, page.plants, page.next === undefined)
  }

  #fetch(after: Place | undefined): Promise<Page> {
    const { filter, order } = this.list
    const query = { ...filter, limit: PAGE_SIZE, ...order.query(after) }
    return this.#client.listPlants(query, { signal: this.#controller.signal })
  }
}
