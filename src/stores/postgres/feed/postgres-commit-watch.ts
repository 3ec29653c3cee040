import { setTimeout } from 'node:timers/promises'

const INTERVAL_MS = 200

/** A promise resolves without a commit after this many intervals. */
const INTERVALS_MAX = 5

/** Notifies callers of the next commit. Checks for commits of other processes only while a caller waits. */
export class CommitWatch {
  readonly #hasCommitted: () => Promise<boolean>
  #commit = Promise.withResolvers<true>()
  #next: Promise<void> | undefined

  /** @param hasCommitted resolves to whether another process has committed since the last call */
  constructor(hasCommitted: () => Promise<boolean>) {
    this.#hasCommitted = hasCommitted
  }

  /** Resolves at the next commit, or after a second without one. Does not keep the process running. */
  next(): Promise<void> {
    this.#next ??= this.#watch(this.#commit.promise)
    return this.#next
  }

  /** Reports a commit. */
  notify(): void {
    this.#commit.resolve(true)
    this.#commit = Promise.withResolvers()
    this.#next = undefined
  }

  async #watch(committed: Promise<true>): Promise<void> {
    for (let intervals = 0; intervals < INTERVALS_MAX; intervals++) {
      const isOver = await Promise.race([committed, this.#checkLater()])
      if (this.#commit.promise !== committed) return
      if (isOver) break
    }
    this.notify()
  }

  async #checkLater(): Promise<boolean> {
    await setTimeout(INTERVAL_MS, undefined, { ref: false })
    // A caller learns from its next read that the store is unavailable.
    return this.#hasCommitted().catch(() => false)
  }
}
