import { shareRuns } from '../../../../core/time/shared-result.ts'
import type {
  ChangeFeed,
  ChangePage,
  ChangesRequest,
  NoChanges,
} from '../../../../service/store/change-feed.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { NEW_FEED, type OnProblem, type Retention } from '../../shared/engine.ts'
import type { Connections } from '../connection/connections.ts'
import { retryOptimistically } from '../connection/optimistic-retry.ts'
import type { Run } from '../connection/pooled-client.ts'
import { type CommitCursor, findEnd, type PageRead, readPage } from './change-reads.ts'
import { maintainChanges } from './change-retention.ts'
import { replaceObsoleteFeed } from './feed-start.ts'
import { appendCommits, lockFeed, readFeedState } from './ledger.ts'
import { CommitWatch } from './postgres-commit-watch.ts'

/** Locks a commit, which waits for the standbys as in creates.ts. */
const CONFIRM = 'SELECT position FROM plant_commits WHERE position = $1 FOR KEY SHARE'

/** Lists update the ledger after this many changes, because an import may run without a service that does. */
const LISTED_MAX = 50_000

/** Undefined if a concurrent change interfered. */
type PageResult = ChangePage | 'expired' | undefined

/** Implements ChangeFeed. */
export class PostgresFeed implements ChangeFeed {
  readonly #connections: Connections
  readonly #run: Run
  readonly #watch: CommitWatch
  /** Brings the ledger up to date. */
  readonly #update: () => Promise<void>
  /** The last commit in the ledger that this process knows of. */
  #position: bigint | undefined
  /** All commits up to this one would survive a failover. */
  #confirmed: bigint | undefined
  /** The number of changes in lists since one last brought the ledger up to date. */
  #listed = 0
  readonly #closing = new AbortController()
  #maintenance: Promise<void> | undefined

  /** @param run runs statements that read changes */
  constructor(connections: Connections, run: Run) {
    this.#connections = connections
    this.#run = run
    this.#watch = new CommitWatch(async () => {
      const { position, isBehind } = await readFeedState(connections)
      return isBehind || this.#advance(position)
    })
    this.#update = shareRuns(() => this.#append())
  }

  /**
   * Begins a new feed if the feed is obsolete, and reports that. With a retention, deletes old changes until it is
   * closed.
   */
  async prepare(retention?: Retention, onProblem?: OnProblem): Promise<void> {
    const { isObsolete } = await readFeedState(this.#connections)
    if (isObsolete && (await replaceObsoleteFeed(this.#connections))) onProblem?.(NEW_FEED)
    if (retention === undefined) return
    const [connections, update, { signal }] = [this.#connections, this.#update, this.#closing]
    this.#maintenance = maintainChanges({ connections, retention, update, onProblem, signal })
  }

  /** Reports a commit of this process. */
  noteCommit(): void {
    this.#watch.notify()
  }

  /** Reports how many changes a commit had in lists. */
  async noteList(changes: number): Promise<void> {
    this.#listed += changes
    if (this.#listed < LISTED_MAX) return
    this.#listed = 0
    // The changes are made even if this fails.
    await this.#update().catch(() => {})
  }

  async readChanges({ after, limit }: ChangesRequest): Promise<ChangePage | NoChanges> {
    try {
      await this.#update()
      if (after === undefined) return await retryOptimistically(() => this.#readOldest(limit))
      if (after === 'latest') return await retryOptimistically(() => this.#readLatest())
      const cursor = decodeCursor(after)
      if (cursor === undefined) return 'malformed'
      const { sequence } = cursor
      if (sequence === undefined) return 'expired'
      const position = { ...cursor, sequence }
      return await retryOptimistically(() => this.#read(position, limit))
    } catch (error) {
      // Another server may have taken over, without all of the commits.
      this.#confirmed = undefined
      throw error
    }
  }

  nextCommit(): Promise<void> {
    return this.#watch.next()
  }

  async close(): Promise<void> {
    this.#watch.notify()
    this.#closing.abort()
    await this.#maintenance
  }

  async #append(): Promise<void> {
    const { isObsolete, isBehind, position } = await readFeedState(this.#connections)
    if (isObsolete) {
      this.#confirmed = undefined
      await replaceObsoleteFeed(this.#connections)
    }
    this.#advance(isBehind ? await this.#appendCommits() : position)
  }

  async #appendCommits(): Promise<bigint> {
    const append = async (run: Run) =>
      appendCommits(run, await lockFeed(run, this.#connections.lockWaitMs))
    const position = await this.#connections.verified((client) => client.transaction(append))
    // The standbys have this commit, and so all before it.
    this.#confirmed = position
    return position
  }

  /** Returns whether the position has changed. */
  #advance(position: bigint): boolean {
    if (position === this.#position) return false
    this.#position = position
    this.#watch.notify()
    return true
  }

  async #readOldest(limit: number): Promise<PageResult> {
    const oldest = await findEnd(this.#run, 'oldest')
    if (oldest === undefined) return undefined
    const page = await this.#read(oldest, limit)
    // The changes were removed from the feed between the two statements.
    return page === 'expired' ? undefined : page
  }

  async #readLatest(): Promise<ChangePage | undefined> {
    const last = await findEnd(this.#run, 'latest')
    return last && this.#confirm({ changes: [], last })
  }

  async #read(after: CommitCursor, limit: number): Promise<PageResult> {
    const page = await readPage(this.#run, after, limit)
    return typeof page === 'object' ? this.#confirm(page) : page
  }

  /** Waits until the standbys have the page. Resolves to undefined if its last commit is no longer in the ledger. */
  async #confirm({ changes, last }: PageRead): Promise<ChangePage | undefined> {
    const { position } = last
    if (this.#confirmed === undefined || position > this.#confirmed) {
      const locked = await this.#connections.verified((client) =>
        client.change(CONFIRM, [position]),
      )
      if (locked.length === 0) return undefined
      this.#confirmed = position
    }
    return { changes, next: encodeCursor(last) }
  }
}
