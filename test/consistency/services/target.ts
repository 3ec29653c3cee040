/** A running service as the harness, its disasters and its consumers know it. */

import type { OwnField } from '../../../core/members/own-fields.ts'
import type { Change } from '../../../service/store/change-feed.ts'
import type { Owner } from '../../helpers/processes/command.ts'
import type { Random } from '../../hostile/fuzz/random.ts'
import type { History } from '../history.ts'

/** Where a disaster happens. */
export interface Place {
  /** Ends everything that was started. */
  readonly owner: Owner
  /** An empty folder. */
  readonly folder: string
  readonly random: Random
  /** For marks. */
  readonly history: History
}

/** A running service that accepts `TOKEN`. */
export interface Target {
  /** Where clients can reach it now: several threads have one URL, replicas have one each. */
  readonly urls: () => readonly string[]
  /**
   * Does harm once, and resolves when it is over. It is called again and again, after a random number of calls.
   *
   * @throws Error if the service is not as it should be afterwards
   */
  readonly harm?: () => Promise<void>
  /** Resolves once the service is healthy. Clients have ended by then. */
  readonly heal?: () => Promise<void>
  /** The database with which the service starts, for webhooks. */
  readonly database?: string
  /** The own fields of its contract; undefined for none. */
  readonly fields?: readonly OwnField[]
  /** All changes, if the feed of the last database does not contain them. Clients have ended by then. */
  readonly feed?: () => Promise<readonly Change[]>
}
