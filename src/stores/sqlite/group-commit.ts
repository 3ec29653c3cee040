import { StoreUnavailable } from '../../../service/plant-store.ts'
import type { Change, ChangeResult } from './writer.ts'

/** More changes in one transaction gain nothing more, and keep the first of them waiting. */
const MAX_TOGETHER = 512

/** What may wait for the disk; beyond it the service is overloaded, and says so at once. */
const MAX_WAITING = 10_000

type Commit = (changes: readonly Change[]) => Promise<ChangeResult[]>

interface Waiting {
  readonly change: Change
  readonly resolve: (result: ChangeResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: changes that arrive while others are on their way to the disk go together in the
 * next transaction, so many share one wait for the disk. Each resolves after the commit that it was
 * part of.
 */
export class GroupCommit {
  readonly #commit: Commit
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** @throws StoreUnavailable if the commit failed for a reason that passes, or too much is waiting */
  change(change: Change): Promise<ChangeResult> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new StoreUnavailable('busy', `${MAX_WAITING} changes are waiting`))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      this.#flushing ??= this.#flush()
    })
  }

  /** Resolves when nothing is waiting. */
  async settle(): Promise<void> {
    await this.#flushing
  }

  async #flush(): Promise<void> {
    // What arrives in the same turn of the event loop belongs together.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, MAX_TOGETHER)
      try {
        const results = await this.#commit(together.map(({ change }) => change))
        for (const [index, result] of results.entries()) together[index]?.resolve(result)
      } catch (error) {
        // What came meanwhile would wait in vain for what has just failed.
        const alike = error instanceof StoreUnavailable ? this.#waiting.splice(0) : []
        for (const { reject } of [...together, ...alike]) reject(error)
      }
    }
    this.#flushing = undefined
  }
}
