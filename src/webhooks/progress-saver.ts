import { StoreUnavailable } from '../../service/plant-store.ts'
import type { SavedProgress, WebhookProgress } from '../../service/webhook-store.ts'

/** Saves that would follow each other faster are combined. If the process dies, unsaved deliveries are repeated. */
const INTERVAL_MS = 500

/** Skipping changes again costs little, so it can be saved later. */
const SKIP_INTERVAL_MS = 10_000

/** A database whose standby is missing keeps a connection busy for each attempt. */
const RETRY_MS = 3000

export interface ProgressSaverOptions {
  /** Stores the progress of several webhooks. Resolves to the names of those that the process owns. */
  readonly save: (progress: readonly SavedProgress[]) => Promise<string[]>
  /** Called for a webhook that the process does not own. */
  readonly onLost: (name: string) => void
  /** Called for an error other than StoreUnavailable. */
  readonly onError: (error: unknown) => void
}

interface Unsaved {
  readonly progress: WebhookProgress
  /** By `performance.now()`. */
  dueAt: number
  isSaving: boolean
}

/**
 * Saves the progress of all webhooks of a process while deliveries continue. One save is in flight at a time, so
 * webhooks hold at most one connection for changes, even if each change waits for a missing standby.
 */
export class ProgressSaver {
  readonly #options: ProgressSaverOptions
  readonly #unsaved = new Map<string, Unsaved>()
  #last: Promise<unknown> = Promise.resolve()
  #isSaving = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  /** When the timer ends, by `performance.now()`. */
  #timerAt = 0
  #nextStart = Number.NEGATIVE_INFINITY

  constructor(options: ProgressSaverOptions) {
    this.#options = options
  }

  /**
   * Saves progress soon, and repeats that while the store is unavailable.
   *
   * @param isSkip whether the progress only skips changes since the last time
   */
  set(name: string, progress: WebhookProgress, isSkip: boolean): void {
    const before = this.#unsaved.get(name)
    const dueAt = performance.now() + (isSkip ? SKIP_INTERVAL_MS : 0)
    const isPending = before !== undefined && !before.isSaving
    this.#unsaved.set(name, {
      progress,
      dueAt: isPending ? Math.min(before.dueAt, dueAt) : dueAt,
      isSaving: false,
    })
    if (this.#timer === undefined || dueAt < this.#timerAt) this.#schedule()
  }

  /** Whether a webhook has progress that is not saved. */
  has(name: string): boolean {
    return this.#unsaved.has(name)
  }

  /** Discards the unsaved progress of a webhook. */
  forget(name: string): void {
    this.#unsaved.delete(name)
  }

  /** Runs another change to the store, while neither a save nor another such change is in flight. */
  exclusively<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(change)
    this.#last = result.catch(() => {})
    return result
  }

  /** Saves everything in one attempt, and nothing afterwards. Resolves to whether that succeeded. */
  async close(): Promise<boolean> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#save(Number.POSITIVE_INFINITY)
    return this.#unsaved.size === 0
  }

  #schedule(): void {
    if (this.#isClosed || this.#isSaving || this.#unsaved.size === 0) return
    clearTimeout(this.#timer)
    const dueAt = Math.min(...Array.from(this.#unsaved.values(), ({ dueAt }) => dueAt))
    this.#timerAt = Math.max(dueAt, this.#nextStart)
    this.#timer = setTimeout(() => this.#saveDue(), Math.max(0, this.#timerAt - performance.now()))
  }

  async #saveDue(): Promise<void> {
    this.#timer = undefined
    this.#isSaving = true
    await this.#save(performance.now() + INTERVAL_MS)
    this.#isSaving = false
    this.#schedule()
  }

  /** @param until only progress that is due by then is saved */
  #save(until: number): Promise<void> {
    return this.exclusively(async () => {
      const due = [...this.#unsaved].filter(([, { dueAt }]) => dueAt <= until)
      if (due.length === 0) return
      this.#nextStart = performance.now() + INTERVAL_MS
      for (const [, each] of due) each.isSaving = true
      try {
        const progress = due.map(([name, { progress }]) => ({ name, progress }))
        this.#settle(due, await this.#options.save(progress))
      } catch (error) {
        this.#nextStart = performance.now() + RETRY_MS
        for (const [name, each] of due) this.#restore(name, each)
        if (!(error instanceof StoreUnavailable)) this.#options.onError(error)
      }
    })
  }

  #settle(due: readonly (readonly [string, Unsaved])[], owned: readonly string[]): void {
    for (const [name, each] of due) {
      if (this.#unsaved.get(name) === each) this.#unsaved.delete(name)
      if (!owned.includes(name)) this.#options.onLost(name)
    }
  }

  /** If there is newer progress, it becomes due no later than the progress that was not saved. */
  #restore(name: string, each: Unsaved): void {
    each.isSaving = false
    const current = this.#unsaved.get(name)
    if (current !== undefined) current.dueAt = Math.min(current.dueAt, each.dueAt)
  }
}
