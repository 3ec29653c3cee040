import type { Change } from '../../../service/change-feed.ts'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'

/** Follows the changes from the beginning, through failovers. */
export class Follower {
  readonly changes: Change[] = []
  readonly #store: PostgresStore
  readonly #following: Promise<void>
  #cursor: string | undefined
  #isEnding = false

  private constructor(store: PostgresStore) {
    this.#store = store
    this.#following = this.#follow()
    // `end` rejects.
    this.#following.catch(() => {})
  }

  static async start(url: string, timeout: number): Promise<Follower> {
    return new Follower(await PostgresStore.open({ url, timeout }))
  }

  /** Reads the remaining changes. Rejects if there was a gap. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#following
    await this.#store.close()
  }

  async #follow(): Promise<void> {
    for (;;) {
      const isLast = this.#isEnding
      const committed = this.#store.nextCommit()
      const count = await this.#read()
      if (count === 0 && isLast) return
      if (count === 0 || count === undefined) await committed
    }
  }

  /** Resolves to the number of changes; undefined if the server is unavailable. */
  async #read(): Promise<number | undefined> {
    try {
      const page = await this.#store.readChanges({ after: this.#cursor, limit: 100 })
      if (typeof page === 'string')
        throw new Error(`there is no page after ${this.#cursor}: ${page}`)
      this.changes.push(...page.changes)
      this.#cursor = page.next
      return page.changes.length
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined
      throw error
    }
  }
}
