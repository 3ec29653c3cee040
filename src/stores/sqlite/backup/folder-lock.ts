import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { StoreError } from '../../store-error.ts'
import { explain } from '../file/database.ts'
import { createDatabaseFile } from '../file/new-file.ts'

/** Stays in the folder: removing it could let two processes lock different files. */
const LOCK_FILE = '.plant-store-backup.lock'

/**
 * Locks a folder for this process with a transaction of SQLite, whose locks the system releases if the process is
 * killed. Between machines it depends on the file system.
 *
 * @returns a function that releases the lock
 * @throws StoreError if another process has locked the folder, or it cannot be locked
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, LOCK_FILE)
  createDatabaseFile(file)
  let db: Sqlite.Database | undefined
  try {
    db = new Sqlite(file, { timeout: 0 })
    // Without a journal next to the file: there is nothing to roll back.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const isLocked = (error as { code?: string }).code === 'SQLITE_BUSY'
    const reason = isLocked ? 'another process makes backups there' : `${file}: ${explain(error)}`
    throw new StoreError(`cannot use the folder ${folder}: ${reason}`, { cause: error })
  }
  const { close } = db
  return close.bind(db)
}
