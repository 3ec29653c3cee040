import {
  type NewWebhook,
  WEBHOOK_LEASE_MS,
  type Webhook,
  type WebhookProgress,
  webhookEvents,
} from '../../../service/webhook-store.ts'

/** A row of the table `plant_webhooks`. Times are in milliseconds since 1970. */
export interface WebhookRow {
  readonly name: string
  readonly url: string
  readonly events: string
  readonly secret: string
  readonly previous_secret: string | null
  readonly previous_until: bigint | null
  readonly created_at: bigint
  readonly cursor: string | null
  readonly attempts: bigint
  readonly failing_since: bigint | null
  readonly next_attempt_at: bigint | null
  readonly paused_at: bigint | null
  readonly last_success_at: bigint | null
  readonly last_failure_at: bigint | null
  readonly last_failure: string | null
  readonly owner: string | null
  readonly owner_until: bigint | null
}

/** The columns of a WebhookProgress. */
export const PROGRESS_COLUMNS = [
  'cursor',
  'attempts',
  'failing_since',
  'next_attempt_at',
  'paused_at',
  'last_success_at',
  'last_failure_at',
  'last_failure',
] as const

type ProgressColumns = Record<(typeof PROGRESS_COLUMNS)[number], string | number | null>

/** The columns of a NewWebhook, in the order of `newWebhookValues`. */
export const NEW_COLUMNS = [
  'name',
  'url',
  'events',
  'secret',
  'previous_secret',
  'previous_until',
  'created_at',
  'cursor',
  'paused_at',
] as const

export function progressColumns(progress: WebhookProgress): ProgressColumns {
  return {
    cursor: progress.cursor ?? null,
    attempts: progress.attempts,
    failing_since: time(progress.failingSince),
    next_attempt_at: time(progress.nextAttemptAt),
    paused_at: time(progress.pausedAt),
    last_success_at: time(progress.lastSuccessAt),
    last_failure_at: time(progress.lastFailureAt),
    last_failure: progress.lastFailure ?? null,
  }
}

export function newWebhookValues(webhook: NewWebhook): (string | number | null)[] {
  const { name, url, events, secret, previousSecret = null, cursor = null } = webhook
  const { previousUntil, createdAt, pausedAt } = webhook
  const secrets = [secret, previousSecret, time(previousUntil)]
  return [name, url, events.join(), ...secrets, time(createdAt), cursor, time(pausedAt)]
}

function time(date: Date | undefined): number | null {
  return date?.getTime() ?? null
}

/** @param now by the clock that measures leases, in milliseconds since 1970 */
export function toWebhook(row: WebhookRow, now: number): Webhook {
  const isOwned = isCurrent(Number(row.owner_until), now)
  return {
    name: row.name,
    url: row.url,
    events: webhookEvents.filter((event) => row.events.split(',').includes(event)),
    secret: row.secret,
    previousSecret: row.previous_secret ?? undefined,
    previousUntil: toDate(row.previous_until),
    createdAt: new Date(Number(row.created_at)),
    progress: {
      cursor: row.cursor ?? undefined,
      attempts: Number(row.attempts),
      failingSince: toDate(row.failing_since),
      nextAttemptAt: toDate(row.next_attempt_at),
      pausedAt: toDate(row.paused_at),
      lastSuccessAt: toDate(row.last_success_at),
      lastFailureAt: toDate(row.last_failure_at),
      lastFailure: row.last_failure ?? undefined,
    },
    owner: (isOwned && row.owner) || undefined,
  }
}

/** Whether a lease has not expired. One that would last too long was granted before the clock was set back. */
function isCurrent(until: number, now: number): boolean {
  return until > now && until <= now + WEBHOOK_LEASE_MS
}

function toDate(time: bigint | null): Date | undefined {
  return time === null ? undefined : new Date(Number(time))
}
