import { setTimeout } from 'node:timers/promises'

export interface Clock {
  /** In milliseconds since 1970. */
  now(): number
  /** Resolves after a time, or when the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: Date.now,
  wait: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => {})
  },
}
