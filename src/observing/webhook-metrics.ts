import { Counter, Gauge, type Registry } from '@prometheus-io/client'

/** The number of attempts by result. */
export interface DeliveryCounts {
  readonly received: number
  readonly failed: number
}

/** The state of a webhook in this process. */
export interface WebhookFigures extends DeliveryCounts {
  readonly name: string
  readonly isPaused: boolean
  /** How long the next change has been waiting, in seconds. Undefined if another process delivers the webhook. */
  readonly lag: number | undefined
}

/** Adds the metrics of webhooks, by name, to a registry. */
export function measureWebhooks(registry: Registry, read: () => readonly WebhookFigures[]): void {
  const registers = [registry]
  new Counter({
    name: 'plant_store_webhook_deliveries_total',
    help: 'Attempts to deliver an event, by their result.',
    labelNames: ['webhook', 'result'],
    registers,
    collect() {
      this.reset()
      for (const { name: webhook, received, failed } of read()) {
        this.inc({ webhook, result: 'received' }, received)
        this.inc({ webhook, result: 'failed' }, failed)
      }
    },
  })
  new Gauge({
    name: 'plant_store_webhook_lag_seconds',
    help: 'How long the next change to be delivered has been waiting. Only on the replica that delivers the webhook.',
    labelNames: ['webhook'],
    registers,
    collect() {
      this.reset()
      for (const { name: webhook, lag } of read()) if (lag !== undefined) this.set({ webhook }, lag)
    },
  })
  new Gauge({
    name: 'plant_store_webhook_paused',
    help: 'Whether the webhook is paused until the operator resumes it.',
    labelNames: ['webhook'],
    registers,
    collect() {
      this.reset()
      for (const { name: webhook, isPaused } of read()) this.set({ webhook }, Number(isPaused))
    },
  })
}
