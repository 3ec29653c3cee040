import Sqlite from 'better-sqlite3'
import { StoreUnavailable } from '../../../service/plant-store.ts'

/** Another connection has held a lock for longer than the timeout. */
const BUSY = /^SQLITE_(BUSY|LOCKED)/

/** The disk is full, failing or inaccessible. SQLite has rolled the transaction back; a later one may succeed. */
const FAILING = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL|CORRUPT|NOTADB)/

/** Maps an error of SQLite to StoreUnavailable by its code. Returns any other error unchanged: it is a bug. */
export function mapError(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (BUSY.test(error.code)) return new StoreUnavailable('busy', error.code)
  if (FAILING.test(error.code)) return new StoreUnavailable('failing', error.code)
  return error
}
