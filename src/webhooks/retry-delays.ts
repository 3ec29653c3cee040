/** When to repeat a failed delivery, and when to give up. */

import { backoffMs } from '../../core/time/retries.ts'
import type { WebhookProgress } from '../../service/webhook-store.ts'

const DELAY_MIN_MS = 1000
export const DELAY_MAX_MS = 3_600_000

/** A webhook is paused after it has failed for this long without a success. */
const FAILING_MAX_MS = 3 * 86_400_000

/** At least this many attempts must have failed, in case the clock was set or the service did not run meanwhile. */
const ATTEMPTS_MIN = 20

/**
 * How long to wait before the next attempt. The delay doubles with each attempt up to an hour, with ±25% jitter,
 * so that webhooks do not retry in lockstep.
 *
 * @param attempts the number of failed attempts, at least 1
 * @param retryAfterMs the delay that the receiver asked for; it can lengthen the delay up to an hour
 * @param random from 0 to 1
 */
export function retryDelay(attempts: number, retryAfterMs: number, random: number): number {
  const delay = backoffMs(attempts, { delayMs: DELAY_MIN_MS, delayMsMax: DELAY_MAX_MS })
  const jittered = delay * (0.75 + random / 2)
  return Math.min(Math.max(jittered, retryAfterMs), DELAY_MAX_MS)
}

/** Whether deliveries have failed for so long that the webhook is paused. */
export function isHopeless({ attempts, failingSince }: WebhookProgress, now: Date): boolean {
  const since = failingSince?.getTime() ?? now.getTime()
  return attempts >= ATTEMPTS_MIN && now.getTime() - since >= FAILING_MAX_MS
}

/**
 * Reads `Retry-After`: seconds or a date (RFC 9110 §10.2.3).
 *
 * @returns milliseconds from now, or 0 if there is no valid value
 */
export function readRetryAfter(value: string | undefined, now: number): number {
  if (value === undefined) return 0
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1000
  const delay = Date.parse(value) - now
  return Number.isNaN(delay) ? 0 : Math.max(0, delay)
}
