import type { FastifyBaseLogger } from 'fastify'
import type { WebhookProgress } from '../../service/webhook-store.ts'

/** While a webhook keeps failing, its failures are logged at most this often. */
const INTERVAL_MS = 10_000

/** The number of attempts by result. */
export interface DeliveryCounts {
  readonly received: number
  readonly failed: number
}

/** Logs and counts deliveries. The log has the names of webhooks, but not their URLs, which can contain secrets. */
export class WebhookLog {
  readonly #log: FastifyBaseLogger
  readonly #counts = new Map<string, DeliveryCounts>()
  /** When the last failure of a webhook was logged, by `performance.now()`. */
  readonly #logged = new Map<string, number>()

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  countsOf(name: string): DeliveryCounts {
    return this.#counts.get(name) ?? { received: 0, failed: 0 }
  }

  /** Forgets all webhooks except these. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#counts.keys()) {
      if (names.has(name)) continue
      this.#counts.delete(name)
      this.#logged.delete(name)
    }
  }

  onDelivered(name: string, failedAttempts: number): void {
    this.#count(name, { received: 1, failed: 0 })
    if (failedAttempts === 0 || !this.#logged.has(name)) return
    this.#logged.delete(name)
    this.#log.info({ webhook: name, attempts: failedAttempts + 1 }, 'the webhook works again')
  }

  onFailed(name: string, progress: WebhookProgress): void {
    this.#count(name, { received: 0, failed: 1 })
    const now = performance.now()
    if (now - (this.#logged.get(name) ?? Number.NEGATIVE_INFINITY) < INTERVAL_MS) return
    this.#logged.set(name, now)
    const { attempts, lastFailure: reason, nextAttemptAt } = progress
    this.#log.warn({ webhook: name, attempts, reason, nextAttemptAt }, 'webhook delivery failed')
  }

  /** @param hasMissedChanges whether the next changes are no longer retained */
  onPaused(
    name: string,
    { attempts, lastFailure: reason }: WebhookProgress,
    hasMissedChanges: boolean,
  ): void {
    const retry = 'run plant-store webhook retry'
    const advice = hasMissedChanges
      ? `the webhook is paused because it has missed changes: ${retry} --from-oldest, and have its receiver read all plants`
      : `the webhook is paused: fix its receiver, then ${retry}`
    this.#log.warn({ webhook: name, attempts, reason }, advice)
  }

  onRemoved(name: string): void {
    this.#log.warn({ webhook: name }, 'the webhook is removed, because its receiver returned 410')
  }

  /** Logs a bug. The delivery is repeated like a failed one. */
  onError(name: string, error: unknown): void {
    this.#log.error({ webhook: name, err: error }, 'internal error while delivering a webhook')
  }

  #count(name: string, { received, failed }: DeliveryCounts): void {
    const counts = this.countsOf(name)
    this.#counts.set(name, {
      received: counts.received + received,
      failed: counts.failed + failed,
    })
  }
}
