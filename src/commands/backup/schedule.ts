import { setTimeout } from 'node:timers/promises'

/** The time until the first retry, in milliseconds. It doubles with each failure. */
const RETRY_MS_MIN = 10_000

const RETRY_MS_MAX = 600_000

export interface ScheduleOptions {
  /** The time until the first run, in milliseconds. */
  readonly delayMs: number
  readonly intervalMs: number
  readonly work: () => Promise<void>
  /** Called if `work` fails, with the time until the next attempt. */
  readonly onFailure: (error: Error, retryMs: number) => void
  /** Ends the schedule. `work` has to watch it as well; an error that it throws afterwards is ignored. */
  readonly signal: AbortSignal
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
  /** Waits for a number of milliseconds. Resolves to false early if `signal` is aborted. */
  readonly wait?: (ms: number) => Promise<boolean>
}

/**
 * Works at fixed intervals that do not drift, until `signal` is aborted. Work that takes longer than the interval skips
 * the runs that it misses. Failed work is repeated sooner.
 */
export async function runSchedule(options: ScheduleOptions): Promise<void> {
  const { delayMs, intervalMs, work, onFailure, signal } = options
  const { now = () => performance.now() } = options
  const { wait = (ms) => setTimeout(ms, true, { signal }).catch(() => false) } = options
  const start = now() + delayMs
  let due = start
  let failures = 0
  // Not `now()` alone, because a timer can be a little early.
  const passed = () => Math.max(now(), due) - start
  const nextRun = () => start + (Math.floor(passed() / intervalMs) + 1) * intervalMs
  while (await wait(Math.max(0, due - now()))) {
    try {
      await work()
      failures = 0
      due = nextRun()
    } catch (error) {
      if (signal.aborted) return
      const time = now()
      due = Math.min(nextRun(), time + Math.min(RETRY_MS_MIN * 2 ** failures, RETRY_MS_MAX))
      failures += 1
      onFailure(error as Error, due - time)
    }
  }
}
