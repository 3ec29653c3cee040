import { type Change, type PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { Model } from '../model/model.ts'

export type LiveState = 'connecting' | 'live' | 'lost'

/** Shorter than proxies usually wait for a response. */
const WAIT_SECONDS = 25

const PAGE_SIZE = 200

/** The first and the longest pause after a failure, in milliseconds. */
const PAUSE_MS = 500
const PAUSE_MS_MAX = 15_000

/** What the feed needs of the browser. */
export interface Surroundings {
  /** Resolves at once unless nobody can see the page. */
  visible(): Promise<void>
  /** Aborts when the browser loses its connection, which requests notice late. */
  offline(): AbortSignal
  /** Resolves after some milliseconds, or earlier if the browser is online again. */
  pause(milliseconds: number): Promise<void>
}

export interface FeedListener {
  /** All plants must be loaded (again): the feed begins here. */
  onStart(): void
  onChanges(changes: readonly Change[]): void
}

/** Follows the changes of all plants by long polling, and says whether it is up to date. */
export class LiveFeed extends Model {
  readonly #client: PlantStoreClient
  readonly #surroundings: Surroundings
  #state: LiveState = 'connecting'
  #problem: unknown

  /** @param client one without retries, so that a lost connection is shown at once */
  constructor(client: PlantStoreClient, surroundings: Surroundings) {
    super()
    this.#client = client
    this.#surroundings = surroundings
  }

  get state(): LiveState {
    return this.#state
  }

  /** Why the connection is lost. */
  get problem(): unknown {
    return this.#problem
  }

  /** Resolves once the signal aborts. */
  async follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    let cursor: string | undefined
    let isStarted = false
    let pauseMs = PAUSE_MS
    const start = () => {
      isStarted = true
      listener.onStart()
    }
    while (!signal.aborted) {
      try {
        await this.#surroundings.visible()
        // After a failure, a request that does not wait shows whether the connection is back.
        const wait = cursor !== undefined && this.#state === 'live' ? { wait: WAIT_SECONDS } : {}
        const connected = AbortSignal.any([signal, this.#surroundings.offline()])
        const page = await this.#client.listChanges(
          { after: cursor ?? 'latest', ...wait, limit: PAGE_SIZE },
          { signal: connected },
        )
        pauseMs = PAUSE_MS
        this.#enter('live')
        if (cursor === undefined) start()
        else if (page.changes.length > 0) listener.onChanges(page.changes)
        cursor = page.cursor
      } catch (error) {
        if (signal.aborted) return
        const condition = error instanceof PlantStoreError ? error.condition : undefined
        if (condition === 'cursor-expired' || condition === 'cursor-malformed') {
          cursor = undefined
          continue
        }
        this.#enter('lost', error)
        // The plants may be readable although the feed is not.
        if (!isStarted) start()
        await this.#surroundings.pause(pauseMs)
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
      }
    }
  }

  #enter(state: LiveState, problem?: unknown): void {
    if (state === this.#state) return
    this.#state = state
    this.#problem = problem
    this.changed()
  }
}
