import { setImmediate } from 'node:timers/promises'
import type {
  ChangeFeed,
  ChangesPage,
  ChangesRequest,
  NoChanges,
} from '../../service/change-feed.ts'

/**
 * Reads one page at a time, and at most one in each turn of the event loop. So webhooks that skip many changes do not
 * delay requests, and use one connection to the database.
 */
export class SerialFeed implements ChangeFeed {
  readonly #feed: ChangeFeed
  #last: Promise<unknown> = Promise.resolve()

  constructor(feed: ChangeFeed) {
    this.#feed = feed
  }

  readChanges(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    const page = this.#last.then(() => this.#feed.readChanges(request))
    // Reading may never yield to the event loop.
    this.#last = page.catch(() => {}).then(() => setImmediate())
    return page
  }

  nextCommit(): Promise<void> {
    return this.#feed.nextCommit()
  }
}
