import type { Change, PlantCount, PlantStoreClient } from '../../client/client.ts'
import { Model } from '../model/model.ts'
import { type ListQuery, matches } from './filter.ts'
import { ListLoader } from './list-loader.ts'
import { LiveFeed, type Surroundings } from './live-feed.ts'
import { PlantList, type PlantState } from './plant-list.ts'
import { PlantTotal } from './plant-total.ts'

/** What somebody else has just done to a plant. One that is no longer in the list is shown while it has the mark. */
export type Mark = 'new' | 'changed' | 'deleted' | 'unmatched'

/** More changes at once, such as an import, would mark the whole table. */
const MARKED_MAX = 20

/** How long a row is marked, in milliseconds. */
const MARK_MS = 3000

export interface ViewOptions {
  readonly client: PlantStoreClient
  /** A client without retries. */
  readonly feedClient: PlantStoreClient
  readonly surroundings: Surroundings
  readonly query: ListQuery
  /** Receives every change, before the list does. Returns whether the person at this page made it. */
  readonly onChange: (change: PlantState) => boolean
}

/** The plants that a person looks at, kept up to date. */
export class PlantView extends Model {
  readonly feed: LiveFeed
  readonly #options: ViewOptions
  readonly #marks = new Map<bigint, { readonly mark: Mark }>()
  readonly #controller = new AbortController()
  #query: ListQuery
  #loader: ListLoader
  #total: PlantTotal
  /** How many runs last. */
  #pauses = 0
  #paused = new AbortController()
  #resumed = Promise.withResolvers<void>()
  #isStarted = false
  #shown: Parameters<ListLoader['show']> = [0, 0]
  #isHeld = false
  /** The marked rows that disappear once rows are no longer held. */
  readonly #due = new Set<bigint>()

  constructor(options: ViewOptions) {
    super()
    this.#options = options
    this.feed = new LiveFeed(options.feedClient, options.surroundings)
    this.#query = options.query
    this.#loader = this.#createLoader(new PlantList(options.query))
    this.#total = this.#createTotal()
    this.feed.subscribe(() => this.changed())
    this.#resumed.resolve()
  }

  get query(): ListQuery {
    return this.#query
  }

  get loader(): ListLoader {
    return this.#loader
  }

  get list(): PlantList {
    return this.#loader.list
  }

  /** The rows that are marked now, by id. */
  get marks(): ReadonlyMap<bigint, { readonly mark: Mark }> {
    return this.#marks
  }

  /** The ids of the rows whose plants are no longer in the list. */
  get gone(): readonly bigint[] {
    return [...this.#marks].filter(([, { mark }]) => isGone(mark)).map(([id]) => id)
  }

  /** How many plants the filter selects, wherever the list begins. Undefined until it is known. */
  get total(): PlantCount | undefined {
    const { list } = this
    const plants = list.length - this.gone.length
    if (this.#isWhole) return { plants, isExact: true }
    const { count } = this.#total
    if (count === undefined || count.isExact || !list.isExact) return count
    return { plants: Math.max(plants, count.plants), isExact: false }
  }

  /** Whether the list itself shows how many plants there are. */
  get #isWhole(): boolean {
    const { isComplete, isExact, isCut } = this.list
    return isComplete && isExact && !isCut
  }

  /** How many rows somebody has just changed. */
  get news(): number {
    return this.#marks.size - this.#due.size
  }

  /** Whether the first plants have not been loaded yet. */
  get isOpening(): boolean {
    const { list, problem } = this.#loader
    return list.length === 0 && !list.isComplete && problem === undefined
  }

  /** Follows the changes until the view is closed. */
  async follow(): Promise<void> {
    const { signal } = this.#controller
    const listener = {
      onStart: () => this.reload(),
      onChanges: (changes: readonly Change[]) => this.#follow(changes),
    }
    while (!signal.aborted) {
      await this.#resumed.promise
      await this.feed.follow(listener, AbortSignal.any([signal, this.#paused.signal]))
    }
  }

  /**
   * Follows no changes until the returned function is called, which loads the plants in view again. All that a run
   * changes would come back one by one.
   */
  pause(): () => void {
    if (this.#pauses === 0) this.#resumed = Promise.withResolvers()
    this.#pauses += 1
    this.#paused.abort()
    return () => {
      this.#pauses -= 1
      if (this.#pauses === 0) this.#resume()
    }
  }

  #resume(): void {
    this.#paused = new AbortController()
    this.#resumed.resolve()
  }

  close(): void {
    this.#controller.abort()
    this.#resume()
    this.#loader.stop()
    this.#total.stop()
  }

  /** Shows the plants of another query. */
  show(query: ListQuery): void {
    const isSameFilter = query.filter === this.#query.filter
    this.#query = query
    this.#marks.clear()
    this.#due.clear()
    if (!isSameFilter) {
      this.#total.stop()
      this.#total = this.#createTotal()
    }
    this.#replaceLoader(new PlantList(query))
  }

  /** Loads the plants in view again. */
  reload(): void {
    this.#isStarted = true
    this.#total.invalidate()
    this.list.invalidate()
    this.#replaceLoader(this.list)
  }

  /** Loads the plants of some rows. */
  load(...shown: Parameters<ListLoader['show']>): void {
    this.#shown = shown
    // Plants that are read before the feed begins could miss a change.
    if (this.#isStarted) this.#loader.show(...shown)
  }

  /** Shows a change that the person at this page has made. */
  apply(change: PlantState): void {
    if (change.plant === undefined) {
      this.#remove(change.id, 'deleted')
    } else {
      this.#marks.delete(change.id)
      this.#due.delete(change.id)
      this.#loader.apply(change)
    }
    this.#countAgain()
  }

  /**
   * While rows are held, those whose plants are gone stay. Otherwise, another row would move under the pointer, and get a
   * click that is not meant for it.
   */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (isHeld || this.#due.size === 0) return
    for (const id of this.#due) {
      this.#marks.delete(id)
      this.#loader.apply({ id })
    }
    this.#due.clear()
    this.changed()
  }

  #remove(id: bigint, mark: Mark): void {
    if (this.#isHeld && this.list.find(id) !== undefined) {
      this.#marks.set(id, { mark })
      this.#due.add(id)
      this.changed()
    } else {
      this.#marks.delete(id)
      this.#loader.apply({ id })
    }
  }

  #follow(changes: readonly Change[]): void {
    const marked: [bigint, { readonly mark: Mark }][] = []
    const isBulk = changes.length > MARKED_MAX
    for (const change of changes) {
      if (this.#options.onChange(change) || isBulk) {
        this.apply(change)
        continue
      }
      const mark = this.#applyMarked(change)
      if (mark === undefined) continue
      const entry = { mark }
      this.#marks.set(change.id, entry)
      marked.push([change.id, entry])
    }
    this.#countAgain()
    this.changed()
    if (marked.length > 0) this.#unmark(marked)
  }

  #applyMarked(change: Change): Mark | undefined {
    const { id, plant } = change
    if (plant === undefined && this.#due.has(id)) return undefined
    this.#due.delete(id)
    const isShown = this.list.find(id) !== undefined
    if (plant === undefined && isShown) return 'deleted'
    if (plant !== undefined && isShown && !matches(plant, this.list.filter)) return 'unmatched'
    const isBack = isGone(this.#marks.get(id)?.mark)
    const effect = this.#loader.apply(change)
    if (effect === 'added') return 'new'
    return effect === 'changed' || isBack ? 'changed' : undefined
  }

  async #unmark(marked: readonly [bigint, { readonly mark: Mark }][]): Promise<void> {
    await this.#options.surroundings.pause(MARK_MS)
    for (const [id, mark] of marked) {
      // It may have changed again.
      if (this.#marks.get(id) !== mark) continue
      if (isGone(mark.mark)) this.#remove(id, mark.mark)
      else this.#marks.delete(id)
    }
    this.changed()
  }

  #replaceLoader(list: PlantList): void {
    this.#loader.stop()
    this.#loader = this.#createLoader(list)
    this.load(...this.#shown)
    this.changed()
  }

  #createLoader(list: PlantList): ListLoader {
    const loader = new ListLoader(this.#options.client, list, this.#options.surroundings)
    loader.subscribe(() => {
      this.#count()
      this.changed()
    })
    return loader
  }

  #createTotal(): PlantTotal {
    const { client, surroundings } = this.#options
    const total = new PlantTotal(client, this.#query.filter, surroundings)
    total.subscribe(() => this.changed())
    return total
  }

  #countAgain(): void {
    this.#total.invalidate()
    this.#count()
  }

  /** Asks the service for the total, unless the list shows it, or may do so soon. */
  #count(): void {
    const { isLoading, problem } = this.#loader
    const isReady = this.#isStarted && !isLoading && problem === undefined
    if (isReady && !this.#isWhole) this.#total.update()
  }
}

function isGone(mark: Mark | undefined): mark is 'deleted' | 'unmatched' {
  return mark === 'deleted' || mark === 'unmatched'
}
