import type { StoredRecord } from '../../../service/store/record-store.ts'
import type { SortIndex } from '../../../service/store/sort-index.ts'
import { findDamagedTokens } from '../../../service/token-store.ts'

/** The result of verifying one aspect of a database. */
export interface CheckResult extends Finding {
  /** The aspect, in one word. */
  readonly subject: string
}

/** The finding of a check. A warning is about something that may be intended, so it is not a fault. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'fault'
  /** One line for the operator. */
  readonly message: string
}

export function ok(message: string): Finding {
  return { status: 'ok', message }
}

export function warning(message: string): Finding {
  return { status: 'warning', message }
}

export function fault(message: string): Finding {
  return { status: 'fault', message }
}

/** The finding for a database that this program created. */
export const OWN_DATABASE = ok('a plant-store database')

/** The finding for a sound schema, which may be older than this program's. */
export function schemaFinding(version: number, latest: number): Finding {
  const upgrade = version < latest ? `; the service upgrades it to ${latest} on its next start` : ''
  return ok(`version ${version}${upgrade}`)
}

/** @param records of all tokens */
export function tokensFinding(records: readonly StoredRecord[]): Finding {
  const damaged = findDamagedTokens(records)
  if (damaged.length === 0) return countFinding(records.length)
  return fault(`damaged: ${damaged.join(', ')}; revoke these tokens and create new ones`)
}

/** The maximum number of ids listed in a message. */
export const IDS_MAX = 10

/** Lists the ids that a check has found, which are at most IDS_MAX. */
export function listIds(ids: readonly bigint[]): string {
  return ids.join(', ') + (ids.length === IDS_MAX ? ' and possibly others' : '')
}

/** @param wrong the ids of at most IDS_MAX plants whose keys are missing, wrong, or left although they were removed */
export function indexFinding({ member, isComplete }: SortIndex, wrong: readonly bigint[]): Finding {
  const { name } = member
  if (!isComplete) return ok(`${name}: not complete, and not compared`)
  if (wrong.length === 0) return ok(`${name}: complete`)
  return fault(
    `${name}: differs from the plants ${listIds(wrong)}; remove it with plant-store index remove, and restart the service, which builds it again`,
  )
}

export function countFinding(count: number | bigint): Finding {
  return ok(count.toLocaleString('en'))
}
