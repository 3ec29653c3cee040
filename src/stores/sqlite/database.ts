import { accessSync, constants, existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { StoreError } from '../store-error.ts'
import { createDatabaseFile } from './new-file.ts'
import { migrate, refuseForeign } from './schema.ts'

export const IN_MEMORY = ':memory:'

/** What SQLite answers to `PRAGMA synchronous` when every commit waits for the disk. */
const FULL = 2

/**
 * How long the log may become, 64 MB, before it is written back into the database: a page that has changed
 * often is written once then, which is worth a fifth of the creates with ids at random.
 */
export const LOG_PAGES = 16_000

export interface DatabaseOptions {
  readonly file: string
  /** How long to wait, in milliseconds, while another connection holds a lock. */
  readonly lockTimeout: number
  /** Refuse if there is no such file, rather than make it. */
  readonly mustExist?: boolean
  /** Change on the calling thread, which waits meanwhile: for a process that has nothing else to do. */
  readonly sameThread?: boolean
}

/**
 * Opens a database to write to: ours or new, of our version, in WAL mode, every commit on disk
 * before it returns.
 *
 * @throws StoreError saying in a line why it cannot be used
 */
export function openDatabase({ file, lockTimeout, mustExist = false }: DatabaseOptions): Database {
  if (mustExist && file !== IN_MEMORY && !existsSync(file)) {
    throw new StoreError(`there is no database ${file}`)
  }
  let db: Database | undefined
  try {
    // better-sqlite3 trims the name too, and an empty one means a temporary database.
    const name = file.trim()
    if (name !== '' && name !== IN_MEMORY && !existsSync(name)) createDatabaseFile(name)
    db = new Sqlite(file, { timeout: lockTimeout })
    // SQLite opens what it may not write to all the same, and says so with the first change.
    if (existsSync(file)) accessSync(file, constants.W_OK)
    const reason = refuseForeign(db)
    if (reason !== undefined) throw new StoreError(`cannot use the database ${file}: ${reason}`)
    makeDurable(db, { file, lockTimeout })
    migrate(db)
    return db.defaultSafeIntegers()
  } catch (error) {
    db?.close()
    if (error instanceof StoreError) throw error
    throw new StoreError(`cannot use the database ${file}: ${explain(error)}`, { cause: error })
  }
}

/** Opens another connection to what `db` is open on, to read it in peace. */
export function openSnapshot(db: Database, { file, lockTimeout }: DatabaseOptions): Database {
  const source = file === IN_MEMORY ? db.serialize() : file
  const options = { readonly: file !== IN_MEMORY, timeout: lockTimeout }
  return new Sqlite(source, options).defaultSafeIntegers()
}

function makeDurable(db: Database, { file, lockTimeout }: DatabaseOptions): void {
  switchToWal(db, lockTimeout)
  // better-sqlite3 is built so that WAL alone means NORMAL, which can lose commits with the power.
  db.pragma('synchronous = FULL')
  db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`)
  const journal = db.pragma('journal_mode', { simple: true })
  const synchronous = db.pragma('synchronous', { simple: true })
  if ((journal !== 'wal' && file !== IN_MEMORY) || synchronous !== FULL) {
    throw new StoreError(
      `cannot use the database ${file}: its file system allows no WAL with synchronous=FULL`,
    )
  }
}

/** Unlike other statements, this one does not wait by itself for other connections. */
function switchToWal(db: Database, lockTimeout: number): void {
  const deadline = performance.now() + lockTimeout
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    try {
      db.pragma('journal_mode = WAL')
      return
    } catch (error) {
      const busy = (error as { code?: string }).code === 'SQLITE_BUSY'
      if (!busy || performance.now() > deadline) throw error
      Atomics.wait(sleeper, 0, 0, 5)
    }
  }
}

/** Most people who read this know files, not SQLite. */
export function explain(error: unknown): string {
  const { code = '', message } = error as { code?: string; message: string }
  switch (code.split('_').slice(0, 2).join('_')) {
    case 'SQLITE_CANTOPEN':
      return 'it cannot be opened; may this user read and write it and its folder?'
    case 'SQLITE_READONLY':
    case 'EACCES':
    case 'EROFS':
      return 'it is read-only for this user, or its folder is'
    case 'SQLITE_NOTADB':
      return 'it is not an SQLite database'
    case 'SQLITE_BUSY':
      return 'another process holds it'
    default:
      return message
  }
}
