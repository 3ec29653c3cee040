import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { PRIVATE_MODE } from '../../../file-modes.ts'
import type { BackupSummary, OnProgress } from '../../engine.ts'
import { StoreError } from '../../store-error.ts'
import { hashFile } from '../feed/checksum.ts'
import { type DatabaseOptions, explain } from '../file/database.ts'
import { openExisting } from '../file/existing-database.ts'
import { limitPace, UNLIMITED } from './copy-pace.ts'
import { findIntegrityFaults, findKindFault } from './sqlite-check.ts'

export interface CopyOptions extends DatabaseOptions {
  /** Path of the copy. The file must not exist, and other users must have no access to its folder. */
  readonly copy: string
  /** Limits the rate of the copy, so that it does not delay the service's commits. By default, there is no limit. */
  readonly bytesPerSecond?: number | undefined
}

/**
 * Copies a database as it is at one moment, with its schema version, while others write to it. The copy is one file,
 * without a WAL. The copy is verified after the last call of `onProgress`.
 *
 * @throws StoreError if the database cannot be read, or the copy cannot be written or is damaged
 */
export async function copyDatabase(
  options: CopyOptions,
  onProgress: OnProgress,
): Promise<BackupSummary> {
  try {
    await copyPages(options, onProgress)
    const plants = verify(options)
    return { plants, bytes: statSync(options.copy).size, sha256: hashFile(options.copy) }
  } catch (error) {
    const isSystemError = (error as NodeJS.ErrnoException).errno !== undefined
    if (!isSystemError && !(error instanceof Sqlite.SqliteError)) throw error
    throw backupError(options, explain(error))
  }
}

async function copyPages(options: CopyOptions, onProgress: OnProgress): Promise<void> {
  const { copy, bytesPerSecond } = options
  const db = openExisting(options)
  const pace = bytesPerSecond === undefined ? UNLIMITED : limitPace({ ...options, bytesPerSecond })
  // Private regardless of the database's mode, because it contains digests of tokens.
  const descriptor = openSync(copy, 'wx', PRIVATE_MODE)
  try {
    // SQLite restarts a backup whenever another connection writes, so under load it would never end. Within a
    // transaction it copies that transaction's snapshot instead.
    db.exec('BEGIN')
    const reason = findKindFault(db)
    if (reason !== undefined) throw backupError(options, reason)
    const { totalPages } = await db.backup(copy, {
      progress({ totalPages, remainingPages }) {
        // One sync at the end would delay the service's commits.
        fdatasyncSync(descriptor)
        onProgress(totalPages - remainingPages, totalPages)
        pace.pause()
        return pace.pagesPerStep
      },
    })
    onProgress(totalPages, totalPages)
  } finally {
    pace.close()
    db.close()
    // Last, because closing any descriptor of a file drops all POSIX locks that the process has on it.
    closeSync(descriptor)
  }
}

/**
 * Returns the number of plants. Reads the file itself, because better-sqlite3 also resolves when a lock kept it from
 * copying anything.
 */
function verify(options: CopyOptions): number {
  const db = new Sqlite(options.copy, { fileMustExist: true })
  try {
    // The copy of a database in WAL mode is in WAL mode too, and could not be opened in a read-only folder.
    db.pragma('journal_mode = DELETE')
    const [damage] = findIntegrityFaults(db)
    const reason = damage ?? findKindFault(db)
    if (reason !== undefined) {
      throw backupError(options, `the copy is damaged, and the database may be too: ${reason}`)
    }
    return db.prepare('SELECT count(*) FROM plants').pluck().get() as number
  } finally {
    db.close()
  }
}

function backupError({ file }: CopyOptions, reason: string): StoreError {
  return new StoreError(`cannot back up the database ${file}: ${reason}`)
}
