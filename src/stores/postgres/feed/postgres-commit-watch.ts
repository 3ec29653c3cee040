import { setTimeout } from 'node:timers/promises'
import { shareResult } from '../../../../core/time/shared-result.ts'

const INTERVAL_MS = 200

/** A wait ends without a commit after this many intervals. */
const INTERVALS_MAX = 5

/** Notifies callers of the next commit. Checks for commits of other processes only while a caller waits. */
export class CommitWatch {
  /** Resolves at the next commit, or after a second without one. Does not keep the process running. */
  readonly next = shareResult(() => this.#watch(this.#commit.promise))
  readonly #hasCommitted: () => Promise<boolean>
  #commit = Promise.withResolvers<true>()

  /** @param hasCommitted resolves to whether another process has committed since the last call */
  constructor(hasCommitted: () => Promise<boolean>) {
    this.#hasCommitted = hasCommitted
  }

  /** Reports a commit. */
  notify(): void {
    this.#commit.resolve(true)
    this.#commit = Promise.withResolvers()
  }

  async #watch(committed: Promise<true>): Promise<void> {
    for (let intervals = 0; intervals < INTERVALS_MAX; intervals++) {
      if (await Promise.race([committed, this.#checkLater()])) return
    }
  }

  async #checkLater(): Promise<boolean> {
    await setTimeout(INTERVAL_MS, undefined, { ref: false })
    // A caller learns from its next read that the store is unavailable.
    return this.#hasCommitted().catch(() => false)
  }
}
