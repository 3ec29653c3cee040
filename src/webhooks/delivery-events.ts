import type { WebhookProgress } from '../../service/webhook-store.ts'

/** Receives the results of deliveries, for the log and the metrics. */
export interface DeliveryEvents {
  onDelivered(name: string, failedAttempts: number): void
  onFailed(name: string, progress: WebhookProgress): void
  onPaused(name: string, progress: WebhookProgress): void
  onRemoved(name: string): void
  /** A bug. The delivery is repeated like a failed one. */
  onError(name: string, error: unknown): void
}
