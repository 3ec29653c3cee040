import pg from 'pg'
import { StoreUnavailable } from '../../../service/plant-store.ts'

/**
 * Codes of errors that pass (https://www.postgresql.org/docs/current/errcodes-appendix.html), though
 * perhaps not before somebody has mended the server: others hold what we need, or there are too many
 * connections.
 */
const BUSY = /^(40001|40P01|55P03|53300)$/

/**
 * The connection is lost, nobody may log in, the database is not to be had or read-only, resources are
 * exhausted, somebody has ended it, or the system fails.
 */
const FAILING = /^(08|25006|28|3D000|53|57|58|XX)/

/** The server has ended the transaction so that another one could go on; made again it may succeed. */
const AGAIN = /^(40001|40P01)\b/

/** OpenSSL's codes for a certificate without a trusted authority. */
const UNKNOWN_AUTHORITY = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

/** The driver has no code for this. */
const NO_TLS = 'The server does not support SSL connections'

/** Makes the store's word of an error of a statement; leaves what is our mistake as it is. */
export function storeError(error: unknown): unknown {
  if (error instanceof TypeError) return error
  if (!(error instanceof pg.DatabaseError)) return unavailable(error)
  const { code = '' } = error
  return BUSY.test(code) || FAILING.test(code) ? unavailable(error) : error
}

/** Whatever keeps us from a connection, it is none of the caller's fault. */
export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const { code = '', message } = error as { code?: string; message: string }
  // An error of several attempts to connect has no message of its own.
  const detail = [code, message].filter(Boolean).join(': ') + adviceOn(code, message)
  return new StoreUnavailable(BUSY.test(code) ? 'busy' : 'failing', detail)
}

/** Whether the transaction may succeed when it is made again, at once and on the same connection. */
export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof StoreUnavailable && AGAIN.test(error.detail)
}

function adviceOn(code: string, message: string): string {
  if (message === NO_TLS) return '; sslmode=disable allows it, but sends everything in plain text'
  if (!UNKNOWN_AUTHORITY.test(code)) return ''
  return '; set sslrootcert to the file of an authority that the system does not trust'
}
