/** Settings of the server that decide how many standbys a commit waits for. */
export interface ReplicationSettings {
  readonly synchronous_commit: string
  readonly synchronous_standby_names: string
  readonly max_wal_senders: string
}

/** Levels at which a standby has a change on its disk. With `remote_write`, it can still lose it in a power failure. */
const DURABLE = ['on', 'remote_apply']

/** `FIRST 2 (…)`, `ANY 2 (…)` or `2 (…)`. The keywords are case-insensitive. */
const WITH_NUMBER = /^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i

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
