import { setImmediate } from 'node:timers/promises'
import type {
  ChangeFeed,
  ChangesPage,
  ChangesRequest,
  NoChanges,
} from '../../service/change-feed.ts'

const FRESH_MS = 20

/** The last page that was read. */
interface Recent {
  readonly page: ChangesPage
  /** The index of each change by its cursor. */
  readonly indexes: ReadonlyMap<string, number>
}

/**
 * Reads one page at a time, and at most one in each turn of the event loop. So webhooks that skip many changes do not
 * delay requests, and use one connection to the database.
 *
 * Readers at different positions in the last page get the rest of it, so that they are at the same position afterwards.
 * Otherwise, while changes keep arriving, they would drift apart until each of them needs its own reads.
 */
export class SerialFeed implements ChangeFeed {
  readonly #feed: ChangeFeed
  readonly #freshMs: number
  #last: Promise<unknown> = Promise.resolve()
  #recent: Recent | undefined

  /** @param freshMs how long the rest of a page is returned to readers at a position inside it */
  constructor(feed: ChangeFeed, freshMs = FRESH_MS) {
    this.#feed = feed
    this.#freshMs = freshMs
  }

  readChanges(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    const rest = this.#restAfter(request)
    if (rest !== undefined) return Promise.resolve(rest)
    const page = this.#last.then(() => this.#restAfter(request) ?? this.#read(request))
    // Reads can complete without yielding to the event loop.
    this.#last = page.catch(() => {}).then(() => setImmediate())
    return page
  }

  nextCommit(): Promise<void> {
    return this.#feed.nextCommit()
  }

  async #read(request: ChangesRequest): Promise<ChangesPage | NoChanges> {
    const page = await this.#feed.readChanges(request)
    if (typeof page === 'string' || page.changes.length === 0) return page
    const indexes = new Map(page.changes.map(({ cursor }, index) => [cursor, index]))
    const recent = { page, indexes }
    this.#recent = recent
    setTimeout(() => {
      if (this.#recent === recent) this.#recent = undefined
    }, this.#freshMs).unref()
    return page
  }

  /** The changes of the last page after a cursor; undefined if there are none. */
  #restAfter({ after = '', limit }: ChangesRequest): ChangesPage | undefined {
    if (this.#recent === undefined) return undefined
    const { page, indexes } = this.#recent
    const index = indexes.get(after)
    const rest = index === undefined ? [] : page.changes.slice(index + 1)
    if (rest.length === 0 || rest.length > limit) return undefined
    return { changes: rest, next: page.next }
  }
}
