import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { ChangeFeed, ChangePage, ChangesRequest, NoChanges } from './store/change-feed.ts'

type Result = ChangePage | NoChanges
export type ReadChanges = (request: ChangesRequest) => Promise<Result>

/**
 * Pauses between two wake-ups, per waiting reader and in total. While changes arrive all the time, each wake-up makes
 * every reader send a few, so without a pause 1,000 readers would leave no time for other requests.
 */
const PAUSE_MS_PER_READER = 0.05
const PAUSE_MS_MIN = 1
const PAUSE_MS_MAX = 40

/** How many readers continue in one turn of the event loop. */
const WOKEN_MAX = 50

/** How many pages to remember for readers that ask for the same one. */
const PAGES_MAX = 16

/** A reader that waits for changes. */
interface Waiter {
  /** Whether there may have been changes since it last read. */
  isWoken: boolean
  isOver: boolean
  /** Ends the current sleep. */
  wake: () => void
}

/**
 * Lets any number of readers of one thread wait for changes at the cost of one: there is one wait for commits, and
 * readers at the same cursor share a read of the store.
 */
export class SharedFeed {
  readonly #feed: ChangeFeed
  readonly #waiters = new Set<Waiter>()
  /** Read since the last wake-up, by request. */
  readonly #pages = new Map<string, Promise<Result>>()
  #isRunning = false

  constructor(feed: ChangeFeed) {
    this.#feed = feed
  }

  /**
   * Like `ChangeFeed.readChanges`, but while there are no changes, it waits for some: at most `waitMs`, and until the
   * signal aborts. Then the page is empty. Changes of the last few milliseconds can be missing from a page that has
   * others; they are on the next one.
   *
   * @param read reads a page that no other reader has read, by default with `readChanges`
   * @throws StoreUnavailable
   */
  async readNext(
    { after, limit }: ChangesRequest,
    waitMs: number,
    signal?: AbortSignal,
    read: ReadChanges = (request) => this.#feed.readChanges(request),
  ): Promise<Result> {
    const waiter: Waiter = { isWoken: false, isOver: signal?.aborted ?? false, wake: () => {} }
    const end = () => {
      waiter.isOver = true
      waiter.wake()
    }
    const timer = setTimeout(end, waitMs)
    signal?.addEventListener('abort', end)
    this.#waiters.add(waiter)
    this.#start()
    try {
      let cursor = after
      for (;;) {
        // Before the read, so that it misses nothing.
        waiter.isWoken = false
        const page = await this.#readPage({ after: cursor, limit }, read)
        if (typeof page === 'string' || page.changes.length > 0) return page
        cursor = page.next
        if (!waiter.isWoken && !waiter.isOver) await sleep(waiter)
        if (waiter.isOver) return page
      }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      this.#waiters.delete(waiter)
    }
  }

  /** Forgets the pages that other readers have read, once the feed has been replaced. */
  forgetPages(): void {
    this.#pages.clear()
  }

  #readPage(request: ChangesRequest, read: ReadChanges): Promise<Result> {
    const key = JSON.stringify([request.limit, request.after])
    const shared = this.#pages.get(key)
    // A failure can be that of the client alone for which the page was read.
    if (shared !== undefined) return shared.catch(() => read(request))
    const page = read(request)
    if (this.#pages.size === PAGES_MAX) this.#pages.clear()
    this.#pages.set(key, page)
    page.catch(() => this.#pages.delete(key))
    return page
  }

  #start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    this.#pages.clear()
    this.#run()
  }

  async #run(): Promise<void> {
    let commit = this.#nextCommit()
    while (this.#waiters.size > 0) {
      await commit
      // Before the readers read, so that they miss nothing.
      commit = this.#nextCommit()
      this.#pages.clear()
      await this.#wakeAll()
      const pause = this.#waiters.size * PAUSE_MS_PER_READER
      await delay(Math.min(Math.max(pause, PAUSE_MS_MIN), PAUSE_MS_MAX))
    }
    // The next readers may come much later.
    this.#pages.clear()
    this.#isRunning = false
  }

  /** Wakes readers in groups, one per turn of the event loop, so that responses and other requests are not delayed. */
  async #wakeAll(): Promise<void> {
    let count = 0
    for (const waiter of [...this.#waiters]) {
      if (count++ % WOKEN_MAX === 0) await setImmediate()
      waiter.isWoken = true
      waiter.wake()
    }
  }

  /** If this fails, the readers wake too, and their next read reports the failure. */
  #nextCommit(): Promise<void> {
    return this.#feed.nextCommit().catch(() => {})
  }
}

function sleep(waiter: Waiter): Promise<void> {
  return new Promise((resolve) => {
    waiter.wake = resolve
  })
}
