import { setTimeout } from 'node:timers/promises'
import { StoreUnavailable } from '../../../../service/plant-store.ts'
import type { Retention } from '../../engine.ts'
import type { RetentionClock } from '../../retention-clock.ts'
import type { ChangeLimits } from './change-excess.ts'

/** How often to look for changes to delete. */
const INTERVAL_MS = 1000

/** The time between deletions, for other commits. */
const PAUSE_MS = 10

export interface PruneMethods {
  /** Whether the log exceeds its limits. */
  hasExcess(limits: ChangeLimits): boolean
  /** Deletes some of the changes that exceed them, in a transaction that other changes can share. */
  prune(limits: ChangeLimits): Promise<unknown>
}

/**
 * Deletes the oldest changes of a log, in small steps, when it exceeds its limits. Does not keep the process running.
 *
 * @param clock for the same age
 * @param signal stops it
 */
export async function pruneChanges(
  { age, bytes }: Retention,
  clock: RetentionClock,
  { hasExcess, prune }: PruneMethods,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pause = INTERVAL_MS
    try {
      const now = Date.now()
      const limits = { before: now - age - clock.grace(now), bytes }
      if (hasExcess(limits)) {
        await prune(limits)
        pause = PAUSE_MS
      }
    } catch (error) {
      // Changes to plants report the failure.
      if (!(error instanceof StoreUnavailable)) throw error
    }
    await setTimeout(pause, undefined, { ref: false, signal }).catch(() => {})
  }
}
