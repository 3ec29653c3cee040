import type { OnProblem, Retention } from '../../engine.ts'
import { RetentionClock } from '../../retention-clock.ts'
import type { Connections } from '../connection/connections.ts'
import { pruneChanges } from './change-retention.ts'
import { NOW_MS } from './change-tables.ts'

const INTERVAL_MS = 10_000

/** The clock of the server dates the changes. */
const NOW = `SELECT ${NOW_MS} AS now`

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
    onProblem?: OnProblem,
    intervalMs = INTERVAL_MS,
  ) {
    this.#intervalMs = intervalMs
    const clock = new RetentionClock(retention.age, onProblem)
    this.#work = async () => {
      await update()
      const [{ now }] = (await connections.query(NOW)) as [{ now: bigint }]
      const age = retention.age + clock.grace(Number(now))
      await pruneChanges(connections, { ...retention, age }, () => this.#isStopped)
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
