/** A process that mirrors, whose calls take effect and respond when the schedule says so. */
import { INT64_MIN } from '../../core/json/int64.ts'
import type { RestrictionStep } from '../../service/restriction.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { type MirrorOptions, mirror } from '../../src/mirror/mirror.ts'
import type { FeedPage, PlantPage, Source } from '../../src/mirror/source.ts'
import { MirrorError, SourceUnavailable } from '../../src/mirror/source-failures.ts'
import { pageWith } from '../stores/plants.ts'
import { cursorOf, type Model, positionOf, URL } from './mirror-model.ts'
import { aborted } from './schedules.ts'

export class Process {
  /** Resolves if the process ends as it should. */
  readonly ended: Promise<void>
  readonly #model: Model
  readonly #stop = new AbortController()
  #isKilled = false
  /** Whether a step of this process was refused. */
  #isRefused = false
  #hasBegunCopy = false

  constructor(model: Model, options: Pick<MirrorOptions, 'restart' | 'once'>) {
    this.#model = model
    const { signal } = this.#stop
    const source: Pick<Source, 'url' | 'readPlants' | 'readChanges'> = {
      url: URL,
      readPlants: (after) => this.#readSource('plants', () => this.#plantsAfter(after)),
      readChanges: (after, wait) => this.#readChanges(after, wait),
    }
    const store: MirrorOptions['store'] = {
      readRestriction: () => this.#callStore('restriction', () => model.restriction),
      list: ({ after = INT64_MIN, limit }) =>
        this.#callStore('list', () => {
          const rest = model.mirrored().filter(({ id }) => id > after)
          const page = rest.slice(0, Math.min(limit, 2))
          return pageWith(page, page.length < rest.length ? page.at(-1)?.id : undefined)
        }),
      restrict: async (step) => {
        const result = await this.#callStore('restrict', () => model.apply(step))
        this.#isRefused = result !== 'done' && result !== 'too-large'
        if (beginsCopy(step)) {
          this.#expect(!this.#hasBegunCopy, 'a process begins to copy once')
          this.#hasBegunCopy = true
        }
        return result
      },
    }
    const report = { copied: () => {}, behind: () => {}, caughtUp: () => {} }
    const run = mirror({
      source: source as Source,
      store,
      report,
      signal,
      transactionMax: { changes: 3, text: 2 ** 20 },
      ...options,
    })
    this.ended = run.then(
      () => this.#expect(!this.#isRefused, 'a process whose step was refused fails'),
      (error) => {
        // Of two processes that mirror at the same time, one gives up.
        const isExpected = error instanceof MirrorError && (model.hasKilled || model.isPromoted)
        this.#expect(isExpected, `the mirror ends: ${error}`)
      },
    )
  }

  abort(): Promise<void> {
    this.#stop.abort()
    return this.ended
  }

  kill(): void {
    this.#isKilled = true
    this.#model.hasKilled = true
  }

  /** A step at which a process that is killed stops. */
  async #step(label: string): Promise<void> {
    await this.#model.schedule.step(label)
    if (this.#isKilled) await new Promise(() => {})
  }

  #expect(isMet: boolean, message: string): void {
    this.#model.schedule.expect(isMet, true, message)
  }

  async #callStore<Result>(label: string, call: () => Result): Promise<Result> {
    this.#expect(!this.#isRefused, 'a refused step is the last one')
    await this.#model.schedule.step(label)
    const outcome = this.#model.nextOutcome()
    if (outcome === 'failed') throw new StoreUnavailable('failing', 'locked')
    const result = call()
    await this.#step(`${label} responds`)
    if (outcome === 'lost') throw new StoreUnavailable('failing', 'the connection was lost')
    return result
  }

  async #readSource<Page>(label: string, read: () => Page): Promise<Page> {
    const { signal } = this.#stop
    const response = async () => {
      await this.#step(label)
      const page = read()
      await this.#step(`${label} respond`)
      if (this.#model.nextOutcome() !== 'done') throw new SourceUnavailable('cut')
      return page
    }
    const cut = async () => {
      await aborted(signal)
      throw signal.reason
    }
    return Promise.race([response(), cut()])
  }

  #plantsAfter(after = INT64_MIN): PlantPage {
    const { feed } = this.#model
    const rest = this.#model.plantsAt(feed.length).filter(({ id }) => id > after)
    const plants = rest.slice(0, 2)
    return { plants, next: plants.at(-1)?.id }
  }

  async #readChanges(after: string, wait = 0): Promise<FeedPage> {
    const { feed } = this.#model
    if (after === 'latest') {
      const read = () => ({ changes: [], cursor: cursorOf(feed.length) })
      return this.#readSource('end', read)
    }
    const isEnd = wait > 0 && positionOf(after) === feed.length
    if (isEnd) await Promise.race([this.#model.added(), aborted(this.#stop.signal)])
    return this.#readSource('changes', () => {
      const changes = feed.slice(positionOf(after), positionOf(after) + 2)
      return { changes, cursor: changes.at(-1)?.cursor ?? after } as FeedPage
    })
  }
}

function beginsCopy({ next }: RestrictionStep): boolean {
  return typeof next === 'object' && next.copyFrom === INT64_MIN
}
