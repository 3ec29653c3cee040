import type { FastifyBaseLogger } from 'fastify'
import type { WebhookProgress } from '../../service/webhook-store.ts'
import { LimitedLog } from '../observing/limited-log.ts'
import type { DeliveryCounts } from '../observing/webhook-metrics.ts'

/** While a webhook keeps failing, its failures are logged at most this often. */
const FAILURE_PERIOD_MS = 10_000

/** Logs and counts deliveries. The log has the names of webhooks, but not their URLs, which can contain secrets. */
export class WebhookLog {
  readonly #log: FastifyBaseLogger
  readonly #counts = new Map<string, DeliveryCounts>()
  readonly #failures = new LimitedLog({ periodMs: FAILURE_PERIOD_MS })

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
      this.#failures.forget(name)
    }
  }

  onDelivered(name: string, failedAttempts: number): void {
    this.#count(name, 'received')
    if (failedAttempts === 0) return
    this.#failures.forget(name)
    this.#log.info({ webhook: name, attempts: failedAttempts + 1 }, 'the webhook works again')
  }

  onFailed(name: string, progress: WebhookProgress): void {
    this.#count(name, 'failed')
    const { attempts, lastFailure: reason, nextAttemptAt } = progress
    const details = { webhook: name, attempts, reason, nextAttemptAt }
    this.#failures.write(name, () => this.#log.warn(details, 'webhook delivery failed'))
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

  #count(name: string, result: keyof DeliveryCounts): void {
    const counts = this.countsOf(name)
    this.#counts.set(name, { ...counts, [result]: counts[result] + 1 })
  }
}
