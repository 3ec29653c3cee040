import type { Retention } from '../engine.ts'
import { pruneChanges } from './change-retention.ts'
import type { Connections } from './connections.ts'

const INTERVAL_MS = 10_000

/** Keeps the ledger up to date and deletes old changes, until it is stopped. Every service does so. */
export class Maintenance {
  readonly #work: () => Promise<void>
  readonly #intervalMs: number
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isStopped = false

  /** @param update brings the ledger up to date */
  constructor(
    connections: Connections,
    retention: Retention,
    update: () => Promise<unknown>,
    intervalMs = INTERVAL_MS,
  ) {
    this.#intervalMs = intervalMs
    this.#work = async () => {
      await update()
      await pruneChanges(connections, retention, () => this.#isStopped)
    }
    this.#run()
  }

  /** Waits for the statement in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #run(): void {
    // The next run tries again, and readers of the feed report the failure.
    this.#running = this.#work().catch(() => {})
    this.#running.then(() => {
      if (this.#isStopped) return
      this.#timer = setTimeout(() => this.#run(), this.#intervalMs).unref()
    })
  }
}
