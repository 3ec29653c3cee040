import { changePages } from '../../client/changes.ts'
import type { Change, ChangePage, PlantStoreClient } from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { retry } from '../../core/time/retries.ts'
import { Model } from '../model/model.ts'

export type LiveState = 'connecting' | 'live' | 'lost'

/** Shorter than proxies usually wait for a response. */
const WAIT_SECONDS = 25

const PAGE_SIZE = 200

/** The end of the feed. */
const LATEST = 'latest'

/** The delays after failures, in milliseconds. */
const DELAYS = { delayMs: 500, delayMsMax: 15_000 }

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
    let isStarted = false
    const start = () => {
      isStarted = true
      listener.onStart()
    }
    const fetchPage = (after: string) =>
      retry((failures) => this.#request(after, failures, signal), {
        ...DELAYS,
        delayAfter: (error) => {
          if (isLostCursor(error)) return undefined
          this.#enter('lost', error)
          // The plants may be readable although the feed is not.
          if (!isStarted) start()
          return 0
        },
        wait: (milliseconds) => this.#surroundings.pause(milliseconds),
        signal,
      })
    while (!signal.aborted) {
      try {
        const pages = changePages(LATEST, fetchPage)
        await pages.next()
        start()
        for (;;) {
          const { value } = await pages.next()
          if (value.changes.length > 0) listener.onChanges(value.changes)
        }
      } catch (error) {
        if (signal.aborted) return
        // Changes were missed.
        if (!isLostCursor(error)) throw error
      }
    }
  }

  async #request(after: string, failures: number, signal: AbortSignal): Promise<ChangePage> {
    await this.#surroundings.visible()
    // After a failure, a request that does not wait shows whether the connection is back.
    const wait = after === LATEST || failures > 0 ? 0 : WAIT_SECONDS
    const connected = AbortSignal.any([signal, this.#surroundings.offline()])
    const query = { after, wait, limit: PAGE_SIZE }
    const page = await this.#client.listChanges(query, { signal: connected })
    this.#enter('live')
    return page
  }

  #enter(state: LiveState, problem?: unknown): void {
    if (state === this.#state) return
    this.#state = state
    this.#problem = problem
    this.changed()
  }
}

function isLostCursor(error: unknown): boolean {
  return hasCondition(error, 'cursor-expired') || hasCondition(error, 'cursor-malformed')
}
