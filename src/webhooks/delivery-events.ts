import type { NoChanges } from '../../service/change-feed.ts'
import type { WebhookProgress } from '../../service/webhook-store.ts'

/** Receives the results of deliveries, for the log and the metrics. */
export interface DeliveryEvents {
  onDelivered(name: string, failedAttempts: number): void
  onFailed(name: string, progress: WebhookProgress): void
  /** @param page what could not be read, if that is the reason */
  onPaused(name: string, progress: WebhookProgress, page?: NoChanges): void
  onRemoved(name: string): void
  /** A bug. The delivery is repeated like a failed one. */
  onError(name: string, error: unknown): void
}
