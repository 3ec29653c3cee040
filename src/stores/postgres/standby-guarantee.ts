import { StoreUnavailable } from '../../../service/plant-store.ts'
import { countStandbys, type ReplicationSettings } from './standby-names.ts'

/** What the server reports about its standbys, and what the operator requires. */
export interface Observation extends ReplicationSettings {
  /** When the session last applied the server's configuration, which it does before its next statement. */
  readonly configured_at: string
  /** Milliseconds since then. */
  readonly configured_for: number
  /** The stored number of required standbys; null if there is none. */
  readonly required: string | null
}

/** The column of an Observation that a transaction starts with. */
export const CONFIGURED = 'pg_conf_load_time()::text AS configured_at'

/** The columns of an Observation. They need no privileges. */
export const OBSERVATION = `
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS synchronous_standby_names,
  current_setting('max_wal_senders') AS max_wal_senders,
  ${CONFIGURED},
  (extract(epoch FROM clock_timestamp() - pg_conf_load_time()) * 1000)::float8 AS configured_for,
  (SELECT value FROM plant_store_settings WHERE name = 'require_standbys') AS required`

/** How often to look whether the guarantee holds again. */
const PROBE_INTERVAL_MS = 250

/**
 * How long a restored setting must have been in force. The process that makes commits wait (the checkpointer) applies
 * it later than the session that reports it.
 */
const SETTLE_MS = 1000

/**
 * Whether acknowledged changes are on the required number of standbys. PostgreSQL itself makes commits wait for them;
 * this class verifies that it was told to. While it was not, all changes are rejected.
 */
export class StandbyGuarantee {
  readonly #observe: () => Promise<Observation>
  #required: number | undefined
  #violation: StoreUnavailable | undefined
  #probe: NodeJS.Timeout | undefined
  #isClosed = false

  /** @param observe reads the current state from the server */
  constructor(observe: () => Promise<Observation>) {
    this.#observe = observe
  }

  /** The required number of standbys; undefined if none is stored. */
  get required(): number | undefined {
    return this.#required
  }

  /** Why changes are rejected; undefined if they are not. */
  get violation(): StoreUnavailable | undefined {
    return this.#violation
  }

  /** Whether commits must be verified. */
  get isRequired(): boolean {
    return this.#required !== undefined && this.#required > 0
  }

  /** @throws StoreUnavailable if it is known that the guarantee does not hold */
  assertHeld(): void {
    if (this.#violation !== undefined) throw this.#violation
  }

  /** Takes note of the current state, except that only a probe ends a violation: other reports can be older than it. */
  note(observation: Observation): void {
    this.#required = parseRequired(observation)
    if (!this.isRequired) this.#violation = undefined
    const violation = findViolation(observation)
    if (violation === undefined) return
    this.#violation = violation
    this.#scheduleProbe()
  }

  /**
   * Verifies a commit.
   *
   * @param observation made after the commit, in the same session
   * @param configuredAt as in an observation, in the same transaction
   * @throws StoreUnavailable if the commit may not have waited for the standbys
   */
  confirm(observation: Observation, configuredAt: string): void {
    this.note(observation)
    this.assertHeld()
    // The server releases waiting commits when the standbys are taken out of its configuration for just a moment.
    if (this.isRequired && observation.configured_at !== configuredAt) {
      throw new StoreUnavailable('failing', 'the server was reconfigured during a commit')
    }
  }

  /** Stops looking at the server. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#probe)
  }

  #scheduleProbe(): void {
    if (this.#isClosed) return
    this.#probe ??= setTimeout(() => this.#runProbe(), PROBE_INTERVAL_MS).unref()
  }

  async #runProbe(): Promise<void> {
    try {
      const observation = await this.#observe()
      const isHeld = findViolation(observation) === undefined
      if (isHeld && observation.configured_for >= SETTLE_MS) this.#violation = undefined
      this.note(observation)
    } catch {
      // The server is unreachable.
    }
    this.#probe = undefined
    if (this.#violation !== undefined) this.#scheduleProbe()
  }
}

function parseRequired({ required }: Observation): number | undefined {
  return required === null ? undefined : Number(required)
}

/** The error for changes if fewer standbys than required confirm them. */
export function findViolation(observation: Observation): StoreUnavailable | undefined {
  const required = parseRequired(observation) ?? 0
  const count = countStandbys(observation)
  if (count >= required) return undefined
  const notice = `changes must be on ${formatStandbys(required)}, but the server waits for ${count}`
  const { synchronous_commit: level, synchronous_standby_names: names } = observation
  const settings = `synchronous_standby_names = '${names}', synchronous_commit = ${level}`
  return new StoreUnavailable('failing', `${notice} (${settings})`, notice)
}

/** Such as `1 standby`. */
export function formatStandbys(count: number): string {
  return count === 1 ? '1 standby' : `${count} standbys`
}
