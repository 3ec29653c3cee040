import Sqlite from 'better-sqlite3'
import { StoreUnavailable } from '../../../service/plant-store.ts'

/** Another connection has what we need, for longer than we wait. */
const BUSY = /^SQLITE_(BUSY|LOCKED)/

/**
 * The disk is full, fails, or is not to be had. After each of these the transaction is rolled back,
 * and the next one may work.
 */
const FAILING = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL|CORRUPT|NOTADB)/

/** Makes the store's word of an error of SQLite, by its code; leaves any other error as it is. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (BUSY.test(error.code)) return new StoreUnavailable('busy', error.code)
  if (FAILING.test(error.code)) return new StoreUnavailable('failing', error.code)
  return error
}
