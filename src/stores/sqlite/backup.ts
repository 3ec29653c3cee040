import { closeSync, fdatasyncSync, openSync, statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { PRIVATE_MODE } from '../../file-modes.ts'
import { StoreError } from '../store-error.ts'
import { integrityFaults, kindFault } from './check.ts'
import { type DatabaseOptions, explain } from './database.ts'
import { openExisting } from './existing.ts'

/** Pages that are copied at a time: 16 MB, as SQLite keeps that much in memory anyway. */
const PAGES = 4000

export interface CopyOptions extends DatabaseOptions {
  /** Where to make the copy; there is no such file, and its folder is nobody else's. */
  readonly copy: string
}

/** What a copy holds. */
export interface Copied {
  readonly plants: number
  readonly bytes: number
}

/** Is told the pages copied so far, and how many there are. */
export type OnProgress = (done: number, total: number) => void

/**
 * Copies a database as it is at one moment, in the version that it has, while others go on writing to
 * it. The copy is one file, without a log beside it. It is verified, for which there is time between
 * the last call of `onProgress` and the end.
 *
 * @throws StoreError if the database cannot be read, or the copy cannot be written or is not sound
 */
export async function copyDatabase(options: CopyOptions, onProgress: OnProgress): Promise<Copied> {
  try {
    await copyPages(options, onProgress)
    return verify(options)
  } catch (error) {
    const ofSystem = (error as NodeJS.ErrnoException).errno !== undefined
    if (!ofSystem && !(error instanceof Sqlite.SqliteError)) throw error
    throw cannotBackUp(options, explain(error))
  }
}

async function copyPages(options: CopyOptions, onProgress: OnProgress): Promise<void> {
  const { copy } = options
  const db = openExisting(options)
  // Private because it contains digests of tokens, whatever the mode of the database.
  const written = openSync(copy, 'wx', PRIVATE_MODE)
  try {
    // SQLite begins a copy again with every change that another connection makes, for ever under load;
    // but not while the connection that copies is in a transaction: then it copies what that one sees.
    db.exec('BEGIN')
    const reason = kindFault(db)
    if (reason !== undefined) throw cannotBackUp(options, reason)
    const { totalPages } = await db.backup(copy, {
      progress({ totalPages, remainingPages }) {
        // All at the end would keep the commits of the service waiting for the disk.
        fdatasyncSync(written)
        onProgress(totalPages - remainingPages, totalPages)
        return PAGES
      },
    })
    onProgress(totalPages, totalPages)
  } finally {
    db.close()
    // Not before, as the locks that a process has on a file end with the first time it closes it.
    closeSync(written)
  }
}

/** Goes by what is in the file, as better-sqlite3 resolves also when it found a lock and copied nothing. */
function verify(options: CopyOptions): Copied {
  const db = new Sqlite(options.copy, { fileMustExist: true })
  try {
    // A copy of a database in WAL mode is in it too, and could not be read where nothing may be written.
    db.pragma('journal_mode = DELETE')
    const [damage] = integrityFaults(db)
    const reason = damage ?? kindFault(db)
    if (reason !== undefined) {
      throw cannotBackUp(options, `the copy is not sound, nor perhaps the database: ${reason}`)
    }
    const plants = db.prepare('SELECT count(*) FROM plants').pluck().get() as number
    return { plants, bytes: statSync(options.copy).size }
  } finally {
    db.close()
  }
}

function cannotBackUp({ file }: CopyOptions, reason: string): StoreError {
  return new StoreError(`cannot back up the database ${file}: ${reason}`)
}
