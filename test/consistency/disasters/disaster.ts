/**
 * A disaster is a service and the harm that is done to it while clients use it. To add one, write a file that exports a
 * `Disaster` and add it to the list in `disasters.ts`.
 */
import type { StartConsumer } from '../consumers/consumer.ts'
import type { Place, Target } from '../services/target.ts'

export interface Disaster {
  /** For `--disaster`. */
  readonly name: string
  /** Why it cannot happen on this machine; undefined if it can. */
  readonly missing?: () => string | undefined
  readonly start: (place: Place) => Promise<Target>
  /** The most calls that are answered before the next harm; 1500 by default. */
  readonly callsMax?: number
  /** The consumers of the feed that must survive it. */
  readonly consumers?: Readonly<Record<string, StartConsumer>>
}
