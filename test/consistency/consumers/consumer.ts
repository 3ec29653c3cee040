/** A program that consumes the feed of a service during a disaster, such as a mirror, and is judged afterwards. */
import type { Change } from '../../../service/store/change-feed.ts'
import type { Place, Target } from '../services/target.ts'

export interface Consumer {
  /** Does harm to the consumer once, and resolves when it is over. */
  readonly harm: () => Promise<void>
  /**
   * Waits until the consumer has consumed all changes. Clients have ended by then, and the service is healthy.
   *
   * @param feed all changes since the service was started
   * @returns what is wrong
   */
  readonly judge: (feed: readonly Change[]) => Promise<readonly string[]>
}

/** Starts a consumer of a service that has no plants yet. */
export type StartConsumer = (place: Place, target: Target) => Promise<Consumer>
