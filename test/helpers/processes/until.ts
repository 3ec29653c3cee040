import { setTimeout } from 'node:timers/promises'

/** Delay between two looks at processes that announce nothing, in milliseconds. */
const POLL_MS = 100

/**
 * Polls until the condition holds. A condition that throws does not hold.
 *
 * @throws Error that names what was awaited, once the limit has passed
 */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  limitMs = 120_000,
): Promise<void> {
  const end = performance.now() + limitMs
  let failure: unknown
  while (performance.now() < end) {
    try {
      if (await condition()) return
      failure = undefined
    } catch (error) {
      failure = error
    }
    await setTimeout(POLL_MS)
  }
  const reason = failure === undefined ? '' : `: ${failure}`
  throw new Error(`waited ${limitMs / 1000} s until ${what}${reason}`)
}
