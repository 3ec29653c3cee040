import type { StoredRecord } from '../../../service/store/record-store.ts'
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

export function countFinding(count: number | bigint): Finding {
  return ok(count.toLocaleString('en'))
}
