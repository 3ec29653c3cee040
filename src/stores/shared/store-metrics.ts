/** The metrics of all stores. Loaded only if they are measured, because the library takes several megabytes. */
import { Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { WaitingChanges } from './group-commit.ts'

/** Metrics in the form in which a thread can send them to another, which adds them up with `Registry.aggregate`. */
export type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Upper bounds of durations, in seconds: from a read in memory to a client that waits for a disk. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
]

/** Upper bounds of the number of changes in a commit. */
const CHANGES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** Measures the commits that one thread makes. */
export class CommitMetrics {
  readonly #registry = new Registry()
  readonly registers = [this.#registry]
  readonly duration = new Histogram({
    name: 'plant_store_commit_duration_seconds',
    help: 'From the start of a transaction that makes changes until they are durable.',
    buckets: [...DURATION_BOUNDS],
    registers: this.registers,
  })
  readonly changes = new Histogram({
    name: 'plant_store_commit_changes',
    help: 'Changes per transaction, including those that changed nothing. A batch or list of changes counts as the number of its plants.',
    buckets: CHANGES_BOUNDS,
    registers: this.registers,
  })

  /** Adds the number of changes that wait in this thread. */
  measureWaiting(waiting: WaitingChanges): void {
    new Gauge({
      name: 'plant_store_waiting_changes',
      help: 'Changes that are not durable yet.',
      registers: this.registers,
      collect() {
        this.set(waiting.count)
      },
    })
  }

  read(): Promise<Metrics> {
    return this.#registry.getMetricsAsJSON()
  }
}
