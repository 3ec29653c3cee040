import { StoreUnavailable } from '../../service/plant-store.ts'
import type { WebhookProgress } from '../../service/webhook-store.ts'

/** Deliveries that follow each other faster share a save. A process that dies repeats them. */
const INTERVAL_MS = 500

/** Stores the progress, and resolves to false if another process delivers the webhook now. */
export type Save = (progress: WebhookProgress) => Promise<boolean>

export interface ProgressSaverOptions {
  readonly save: Save
  /** Called when another process delivers the webhook. */
  readonly onLost: () => void
  /** Called for an error other than StoreUnavailable. */
  readonly onError: (error: unknown) => void
}

/** Saves the progress of a webhook while its deliveries continue. */
export class ProgressSaver {
  readonly #options: ProgressSaverOptions
  #unsaved: WebhookProgress | undefined
  #saving: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lastStart = Number.NEGATIVE_INFINITY

  constructor(options: ProgressSaverOptions) {
    this.#options = options
  }

  /** Saves progress soon, and repeats that while the store is unavailable. */
  set(progress: WebhookProgress): void {
    this.#unsaved = progress
    this.#schedule()
  }

  /** Saves what is not saved yet. Resolves after one attempt. */
  async flush(): Promise<void> {
    await this.#saving
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#saveNow()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #schedule(): void {
    if (this.#saving !== undefined || this.#timer !== undefined) return
    const delay = this.#lastStart + INTERVAL_MS - performance.now()
    if (delay <= 0) {
      this.#saveNow()
      return
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#saveNow()
    }, delay)
  }

  async #saveNow(): Promise<void> {
    const progress = this.#unsaved
    if (progress === undefined) return
    this.#unsaved = undefined
    this.#lastStart = performance.now()
    this.#saving = this.#attempt(progress)
    await this.#saving
    this.#saving = undefined
    if (this.#unsaved !== undefined) this.#schedule()
  }

  async #attempt(progress: WebhookProgress): Promise<void> {
    try {
      if (!(await this.#options.save(progress))) this.#options.onLost()
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#options.onError(error)
      this.#unsaved ??= progress
    }
  }
}
