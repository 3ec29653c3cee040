const INTERVAL_MS = 200

/** A promise resolves without a commit after this many intervals. */
const INTERVALS_MAX = 5

/** Tells callers of the next commit. It looks for commits of other processes only while a caller waits. */
export class CommitWatch {
  readonly #look: () => Promise<boolean>
  #next: PromiseWithResolvers<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** @param look resolves to whether another process has committed since the last time */
  constructor(look: () => Promise<boolean>) {
    this.#look = look
  }

  /** Resolves at the next commit, after a second without one, or on `close`. Does not keep the process running. */
  next(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#next === undefined) {
      this.#next = Promise.withResolvers()
      this.#wait(this.#next, INTERVALS_MAX)
    }
    return this.#next.promise
  }

  /** Reports a commit. */
  notify(): void {
    clearTimeout(this.#timer)
    this.#next?.resolve()
    this.#next = undefined
  }

  close(): void {
    this.#isClosed = true
    this.notify()
  }

  #wait(next: PromiseWithResolvers<void>, intervals: number): void {
    this.#timer = setTimeout(async () => {
      // A caller learns from its next read that the store is unavailable.
      const hasCommits = await this.#look().catch(() => false)
      if (this.#next !== next) return
      if (hasCommits || intervals === 1) this.notify()
      else this.#wait(next, intervals - 1)
    }, INTERVAL_MS).unref()
  }
}
