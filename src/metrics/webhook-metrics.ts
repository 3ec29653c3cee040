import type { WebhookFigures } from '../webhooks/webhook-deliveries.ts'
import { counter, gauge, type Metric } from './metric.ts'

/** The metrics of webhooks, by name. */
export function webhookMetrics(webhooks: readonly WebhookFigures[]): Metric[] {
  return [
    counter(
      'plant_store_webhook_deliveries_total',
      'Attempts to deliver an event, by their result.',
      ...webhooks.flatMap(
        ({ name, received, failed }) =>
          [
            [{ webhook: name, result: 'received' }, received],
            [{ webhook: name, result: 'failed' }, failed],
          ] as const,
      ),
    ),
    gauge(
      'plant_store_webhook_lag_seconds',
      'How long the next change to be delivered has been waiting. Only on the replica that delivers the webhook.',
      ...webhooks.flatMap(({ name, lag }) =>
        lag === undefined ? [] : [[{ webhook: name }, lag] as const],
      ),
    ),
    gauge(
      'plant_store_webhook_paused',
      'Whether the webhook is paused until the operator resumes it.',
      ...webhooks.map(({ name, isPaused }) => [{ webhook: name }, Number(isPaused)] as const),
    ),
  ]
}
