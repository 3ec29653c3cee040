import { within } from '../../core/time/within.ts'

/** How long to wait for another thread. */
const TIMEOUT_MS = 1000

/** In place of figures that have not arrived in time. */
const LATE = Symbol('late')

/**
 * Creates a function that reads figures of another thread, which can be blocked or end. If they do not arrive in time,
 * it resolves to the last ones that did, and a later call resolves to the late ones once they have arrived.
 *
 * @param none the figures until the first ones arrive
 */
export function lastKnown<Figures>(
  read: () => Promise<Figures>,
  none: Figures,
  timeoutMs = TIMEOUT_MS,
): () => Promise<Figures> {
  let known = none
  let pending: Promise<Figures> | undefined
  return async () => {
    // Not shareResult: late figures must be returned once, because some of them count since the last reading.
    pending ??= read().catch(() => known)
    const figures = await within(pending, timeoutMs, LATE)
    if (figures !== LATE) {
      known = figures
      pending = undefined
    }
    return known
  }
}
