import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import { refuseMemory } from '../../in-memory.ts'
import { StoreError } from '../../store-error.ts'
import type { DatabaseOptions } from './database.ts'

/**
 * Opens a database of any version, or of another program, to read it while a service may write to it. The connection
 * refuses changes, and opening it makes none: no upgrade, no switch to WAL.
 *
 * @throws StoreError if the file does not exist, SqliteError if it cannot be opened
 */
export function openExisting({ file, lockTimeout }: DatabaseOptions): Database {
  refuseMemory(file)
  if (!existsSync(file)) throw new StoreError(`there is no database ${resolve(file)}`)
  // Not `readonly`: without a service running, such a connection leaves a -wal and a -shm file in the folder.
  const db = new Sqlite(file, { fileMustExist: true, timeout: lockTimeout })
  db.pragma('query_only = ON')
  return db
}
