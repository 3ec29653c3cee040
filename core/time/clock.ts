/** A clock, which tests can replace. Times are in milliseconds. */
export interface Clock {
  /** Since 1970. It can jump. */
  now(): number
  /** Since an arbitrary moment. It never goes back. */
  monotonic(): number
  /** Resolves after a time, or at once when the signal is aborted. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** The latest time that a Date can represent. */
const LATEST_MS = 8.64e15

/** The date of a time in milliseconds since 1970, or the latest date if there is none so late. */
export function toDate(milliseconds: number): Date {
  return new Date(Math.min(milliseconds, LATEST_MS))
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      signal?.addEventListener('abort', end)
    }),
}
