import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { PRIVATE_FOLDER_MODE, PRIVATE_MODE } from '../../../system/file-modes.ts'
import { codeOf } from '../../../system/user-errors.ts'
import { IN_MEMORY, type StoreOptions } from '../../shared/engine.ts'
import { MissingDatabase, StoreError } from '../../shared/store-error.ts'
import { findIncompatibility } from './compatibility.ts'
import { type FileIdentity, OpenFile } from './file-identity.ts'
import { refuseForeignWal } from './foreign-wal.ts'
import { compareSchema } from './schema-comparison.ts'
import { explain } from './sqlite-errors.ts'
import { migrate } from './sqlite-schema.ts'

/** The value of `PRAGMA synchronous` with which every commit waits for the disk. */
const FULL = 2

/**
 * The length of the WAL at which it is written back into the database: 64 MB. A page that changed often is then
 * written once, which makes creates with random ids a fifth faster.
 */
export const WAL_PAGES = 16_000

/**
 * The size to which SQLite shortens a longer WAL file when it starts over, in bytes. Above the usual size, because a file
 * that has to grow again makes commits slower.
 */
export const WAL_BYTES_KEPT = 100_000_000

/** Can be sent to a thread. */
export interface SqliteOptions extends Omit<StoreOptions, 'database' | 'retention' | 'onProblem'> {
  /** A path, or IN_MEMORY. */
  readonly file: string
  /** The file that the process has open already. Any other file at the path is refused, unopened. */
  readonly identity?: FileIdentity | undefined
  /** See OpenFile. */
  readonly damage?: SharedArrayBuffer | undefined
}

/**
 * Opens a database for writing. Creates it with its folder, or upgrades it, if needed, switches it to WAL mode, and makes
 * every commit wait for the disk.
 *
 * @throws StoreError with a one-line reason if the database cannot be used
 */
export function openDatabase({
  file,
  lockTimeout,
  mustExist = false,
  identity,
}: SqliteOptions): Database {
  if (mustExist && file !== IN_MEMORY && !existsSync(file)) {
    throw new MissingDatabase(`there is no database ${resolve(file)}`)
  }
  let db: Database | undefined
  try {
    if (identity !== undefined) new OpenFile(file, identity).assertInPlace()
    // better-sqlite3 also trims the name. An empty name means a temporary database.
    const name = file.trim()
    if (name !== '' && name !== IN_MEMORY) createDatabaseFile(name)
    if (name !== '' && identity === undefined) refuseForeignWal(name)
    db = new Sqlite(file, { timeout: lockTimeout, fileMustExist: identity !== undefined })
    // SQLite opens a read-only file without an error, and fails only at the first change.
    if (existsSync(file)) accessSync(file, constants.W_OK)
    // If there is an identity, the process has opened the file before.
    const reason = identity === undefined ? findObstacle(db) : findIncompatibility(db)
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

/** Why a database cannot be used; undefined if it can. */
function findObstacle(db: Database): string | undefined {
  // In one transaction, because another process may be upgrading the schema.
  return db.transaction(() => findIncompatibility(db) ?? compareSchema(db).differences[0])()
}

/**
 * Creates an empty file with PRIVATE_MODE, and its folder, for SQLite to open as a database: SQLite leaves the mode to
 * the umask. The WAL and the journal inherit it. If SQLite then fails, the file stays, because another process may
 * already use it. An existing file is not opened: closing any descriptor of a database drops all POSIX locks that the
 * process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
export function createDatabaseFile(file: string): void {
  if (existsSync(file)) return
  mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER_MODE })
  try {
    // Follows a symbolic link to a missing file, as SQLite does.
    closeSync(openSync(file, 'a', PRIVATE_MODE))
  } catch {
    // SQLite fails in the same way, and reports it better.
  }
}

/**
 * Opens another connection for a long read. In memory it reads a copy, because each connection has its own database.
 */
export function openSnapshot(db: Database, { file, lockTimeout }: SqliteOptions): Database {
  const source = file === IN_MEMORY ? db.serialize() : file
  const options = { readonly: file !== IN_MEMORY, timeout: lockTimeout }
  return new Sqlite(source, options).defaultSafeIntegers()
}

function makeDurable(db: Database, { file, lockTimeout }: SqliteOptions): void {
  switchToWal(db, lockTimeout)
  // better-sqlite3 is compiled with NORMAL as the default in WAL mode, which can lose commits in a power failure.
  db.pragma('synchronous = FULL')
  db.pragma(`wal_autocheckpoint = ${WAL_PAGES}`)
  db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
  const journal = db.pragma('journal_mode', { simple: true })
  const synchronous = db.pragma('synchronous', { simple: true })
  if ((journal !== 'wal' && file !== IN_MEMORY) || synchronous !== FULL) {
    throw new StoreError(
      `cannot use the database ${file}: its file system does not support WAL with synchronous=FULL`,
    )
  }
}

/** Retries until the timeout, because SQLite's own timeout does not apply to this statement. */
function switchToWal(db: Database, lockTimeout: number): void {
  const deadline = performance.now() + lockTimeout
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    try {
      db.pragma('journal_mode = WAL')
      return
    } catch (error) {
      const busy = codeOf(error) === 'SQLITE_BUSY'
      if (!busy || performance.now() > deadline) throw error
      Atomics.wait(sleeper, 0, 0, 5)
    }
  }
}

/**
 * Opens a database of any version, or of another program, to read it while a service may write to it. The connection
 * refuses changes, and opening it makes none: no upgrade, no switch to WAL.
 *
 * @throws MissingDatabase if the file does not exist, StoreError if it is in memory or next to the WAL of another
 *   database, SqliteError if it cannot be opened
 */
export function openExisting({ file, lockTimeout }: SqliteOptions): Database {
  refuseMemory(file)
  if (!existsSync(file)) throw new MissingDatabase(`there is no database ${resolve(file)}`)
  refuseForeignWal(file)
  // Not `readonly`: without a service running, such a connection leaves a -wal and a -shm file in the folder.
  const db = new Sqlite(file, { fileMustExist: true, timeout: lockTimeout })
  db.pragma('query_only = ON')
  return db
}

/**
 * Refuses a database in memory, for commands that share a database with other processes.
 *
 * @throws StoreError if the database is in memory
 */
export function refuseMemory(database: string): void {
  if (database !== IN_MEMORY) return
  throw new StoreError('a database in memory is private to its process: use a file')
}
