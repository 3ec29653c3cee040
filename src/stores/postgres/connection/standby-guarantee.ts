import { setTimeout } from 'node:timers/promises'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import type { StoreAdvice } from '../../shared/store.ts'

/** Settings of the server that decide how many standbys a commit waits for. */
export interface ReplicationSettings {
  readonly synchronous_commit: string
  readonly synchronous_standby_names: string
  readonly max_wal_senders: string
}

/** The configuration of a session. */
export interface Configuration extends ReplicationSettings {
  /** When the session last applied the server's configuration, which it does before its next statement. */
  readonly configured_at: string
}

/** A configuration, and the number of standbys that the operator requires. */
export interface Observation extends Configuration {
  /** Milliseconds since `configured_at`. */
  readonly configured_for: number
  /** The stored number of required standbys; null if there is none. */
  readonly required: string | null
}

/** The column of a Configuration that is read when a transaction begins. */
export const CONFIGURED_AT = 'pg_conf_load_time()::text AS configured_at'

/** The columns of a Configuration. They need no privileges. */
export const CONFIGURATION = `
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS synchronous_standby_names,
  current_setting('max_wal_senders') AS max_wal_senders,
  ${CONFIGURED_AT}`

/** The columns of an Observation. */
export const OBSERVATION = `${CONFIGURATION},
  (extract(epoch FROM clock_timestamp() - pg_conf_load_time()) * 1000)::float8 AS configured_for,
  (SELECT value FROM plant_store_records WHERE kind = 'setting' AND key = 'require_standbys') AS required`

/** Levels at which a standby has a change on its disk. With `remote_write`, it can still lose it in a power failure. */
const DURABLE = ['on', 'remote_apply']

/** `FIRST 2 (…)`, `ANY 2 (…)` or `2 (…)`. The keywords are case-insensitive. */
const WITH_NUMBER = /^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i

/** How often to probe the server while standbys are required. */
const PROBE_INTERVAL_MS = 500

/**
 * How long a restored setting must have been in force. The process that makes commits wait (the checkpointer) applies
 * it later than the session that reports it.
 */
const SETTLE_MS = 1000

/**
 * Whether acknowledged changes are on the required number of standbys. PostgreSQL itself makes commits wait for them;
 * this class verifies that it is configured to. While it is not, all changes are rejected.
 */
export class StandbyGuarantee {
  readonly #observe: () => Promise<Observation>
  #required: number | undefined
  #violation: StoreUnavailable | undefined
  #isProbing = false
  #isClosed = false

  /** @param observe reads the current state from the server */
  constructor(observe: () => Promise<Observation>) {
    this.#observe = observe
  }

  /** The required number of standbys; undefined if none was ever found. */
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

  /** Records the current state, except that only a probe ends a violation: other reports can be older than it. */
  note(observation: Observation): void {
    // A failover can lose the stored number. This process then keeps requiring it.
    this.#required = parseRequired(observation) ?? this.#required
    if (!this.isRequired) this.#violation = undefined
    this.#judge(observation)
    if (this.isRequired && !this.#isProbing) this.#probe()
  }

  /**
   * Verifies a commit.
   *
   * @param configuration read after the commit, in the same session
   * @param configuredAt `configured_at` before the commit
   * @throws StoreUnavailable if the commit may not have waited for the standbys
   */
  confirm(configuration: Configuration, configuredAt: string): void {
    this.#judge(configuration)
    this.assertHeld()
    // The server releases waiting commits when the standbys are taken out of its configuration for just a moment.
    if (configuration.configured_at !== configuredAt) {
      throw new StoreUnavailable('failing', 'the server was reconfigured during a commit')
    }
  }

  /** Stops probing. */
  close(): void {
    this.#isClosed = true
  }

  #judge(settings: ReplicationSettings): void {
    this.#violation = findViolation(this.#required, settings) ?? this.#violation
  }

  /** Probes the server until no standbys are required or the store closes. */
  async #probe(): Promise<void> {
    this.#isProbing = true
    while (this.isRequired) {
      await setTimeout(PROBE_INTERVAL_MS, undefined, { ref: false })
      if (this.#isClosed) return
      const observation = await this.#observe().catch(() => undefined)
      // The server is unreachable.
      if (observation === undefined) continue
      if (observation.configured_for >= SETTLE_MS) this.#violation = undefined
      this.note(observation)
    }
    this.#isProbing = false
  }
}

/** The required number of standbys; undefined if none is stored. */
export function parseRequired({ required }: Observation): number | undefined {
  return required === null ? undefined : Number(required)
}

/** The error for changes if fewer standbys than required confirm them. */
export function findViolation(
  required: number | undefined,
  settings: ReplicationSettings,
): StoreUnavailable | undefined {
  const count = countStandbys(settings)
  if (required === undefined || count >= required) return undefined
  const notice = `changes must be on ${formatStandbys(required)}, but the server waits for ${count}`
  const { synchronous_commit: level, synchronous_standby_names: names } = settings
  const detail = `${notice} (synchronous_standby_names = '${names}', synchronous_commit = ${level})`
  return new StoreUnavailable('failing', detail, notice)
}

/**
 * How many standbys have a change on disk when its commit ends
 * (https://www.postgresql.org/docs/current/runtime-config-replication.html#GUC-SYNCHRONOUS-STANDBY-NAMES). A list of
 * names without a number means `FIRST 1`. The names themselves do not matter: a commit waits until enough standbys with
 * one of them have confirmed it, and `*` is any name.
 */
export function countStandbys({
  synchronous_commit: level,
  synchronous_standby_names: names,
  max_wal_senders: senders,
}: ReplicationSettings): number {
  // Without WAL senders, the server ignores the names.
  if (!DURABLE.includes(level) || senders === '0' || names.trim() === '') return 0
  return Number(WITH_NUMBER.exec(names)?.[1] ?? 1)
}

/** Such as `1 standby`. */
export function formatStandbys(count: number): string {
  return count === 1 ? '1 standby' : `${count} standbys`
}

/** Advice about the guarantee of acknowledgements, for the operator. */
export function advise({ required, violation }: StandbyGuarantee): StoreAdvice {
  const warnings: string[] = []
  if (required === undefined) {
    warnings.push(
      'acknowledged changes can be lost with the primary: set --require-standbys to the number of standbys that ' +
        'must have a change first, or to 0 to accept that',
    )
  }
  if (violation !== undefined) warnings.push(`changes are rejected: ${violation.detail}`)
  const acknowledgement = required
    ? `are acknowledged once they are on ${formatStandbys(required)}`
    : 'can be lost with the primary after they are acknowledged'
  return { warnings, acknowledgement }
}
