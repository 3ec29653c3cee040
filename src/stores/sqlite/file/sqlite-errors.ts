import Sqlite from 'better-sqlite3'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { codeOf, messageOf } from '../../../system/user-errors.ts'
import { damagedError } from '../../shared/store-error.ts'

/** Another connection has held a lock for longer than the timeout. */
const BUSY = /^SQLITE_(BUSY|LOCKED)/

/** The disk is full, failing or inaccessible. SQLite has rolled the transaction back; a later one may succeed. */
const FAILING = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/

/** The file is not what SQLite has written. Another attempt fails as well. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/

/** Maps an error of SQLite to StoreUnavailable by its code. Returns any other error unchanged: it is a bug. */
export function mapError(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (BUSY.test(error.code)) return new StoreUnavailable('busy', error.code)
  if (DAMAGED.test(error.code)) return damagedError(error.code)
  if (FAILING.test(error.code)) return new StoreUnavailable('failing', error.code)
  return error
}

/** The reason for an error in terms of files, for operators who do not know SQLite. */
export function explain(error: unknown): string {
  const code = codeOf(error) ?? ''
  switch (code.split('_').slice(0, 2).join('_')) {
    case 'SQLITE_CANTOPEN':
      return 'it cannot be opened: check that this user can read and write the file and its folder'
    case 'SQLITE_READONLY':
    case 'EACCES':
    case 'EROFS':
      return 'this user cannot write to the file or its folder'
    case 'SQLITE_NOTADB':
      return 'it is not an SQLite database'
    case 'SQLITE_BUSY':
      return 'another process has locked it'
    default:
      return messageOf(error)
  }
}
