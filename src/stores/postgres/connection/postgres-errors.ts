import pg from 'pg'
import { known } from '../../../../core/known.ts'
import { incompleteError, restrictedError } from '../../../../service/restriction.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { codeOf, messageOf } from '../../../system/user-errors.ts'
import { damagedError } from '../../shared/store-error.ts'

/** The database has refused a change to plants. The detail is the source of a mirror, and empty if it is frozen. */
export const RESTRICTED = 'PS001'

/** The database has refused to read an incomplete mirror. The detail is its source. */
export const INCOMPLETE = 'PS002'

/**
 * Serialization failures, deadlocks, lock timeouts and too many connections
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const BUSY = /^(40001|40P01|55P03|53300)$/

/**
 * The connection was lost or refused, the database is missing or read-only, resources are exhausted, an administrator
 * intervened, or the system failed. Some of these last until someone repairs the server.
 */
const FAILING = /^(08|25006|28|3D000|53|57|58|XX)/

/** Data or an index is damaged. Another attempt fails as well. */
const DAMAGED = /^XX00[12]$/

/** The server rolled the transaction back in favor of another one. */
const ROLLED_BACK = /^(40001|40P01)\b/

/** A lock was not available within `lock_timeout`. */
const LOCK_TIMEOUT = /^55P03\b/

/** Maps an error of a statement to StoreUnavailable by its code. Returns any other error unchanged: it is a bug. */
export function mapError(error: unknown): unknown {
  if (error instanceof TypeError) return error
  if (!(error instanceof pg.DatabaseError)) return toUnavailable(error)
  const { code = '', detail } = error
  if (code === RESTRICTED) return restrictedError(detail ? { source: detail } : 'frozen')
  if (code === INCOMPLETE) return incompleteError({ source: known(detail) })
  return BUSY.test(code) || FAILING.test(code) ? toUnavailable(error) : error
}

/** Maps an error of a connection, which is never the caller's fault. */
export function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const code = codeOf(error) ?? ''
  // The AggregateError of several connection attempts has an empty message.
  const detail = [code, messageOf(error)].filter(Boolean).join(': ')
  if (DAMAGED.test(code)) return damagedError(detail)
  return new StoreUnavailable(BUSY.test(code) ? 'busy' : 'failing', detail)
}

/** Whether the database has refused a statement because it is restricted. */
export function isRestricted({ reason }: StoreUnavailable): boolean {
  return reason === 'restricted' || reason === 'read-only'
}

/** Whether the same transaction may succeed if repeated at once, on the same connection. */
export function isRetryable(error: unknown): boolean {
  return error instanceof StoreUnavailable && ROLLED_BACK.test(error.detail)
}

/** Whether a statement has failed because it waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable && LOCK_TIMEOUT.test(error.detail)
}
