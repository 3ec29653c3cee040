import { shareResult } from '../../time/shared-result.ts'
import { within } from '../../time/within.ts'

/** How long to wait for another thread. */
const TIMEOUT_MS = 1000

/**
 * Creates a function that reads figures of another thread, which can be blocked or end. If they do not arrive in time,
 * it resolves to the last ones that did.
 *
 * @param none the figures until the first ones arrive
 */
export function lastKnown<Figures>(
  read: () => Promise<Figures>,
  none: Figures,
  timeoutMs = TIMEOUT_MS,
): () => Promise<Figures> {
  let known = none
  const update = shareResult(async () => {
    // If the thread has ended, the last figures stay.
    known = await read().catch(() => known)
  })
  return async () => {
    await within(update(), timeoutMs, undefined)
    return known
  }
}
