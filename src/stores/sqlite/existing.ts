import { existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { StoreError } from '../store-error.ts'
import { type DatabaseOptions, IN_MEMORY } from './database.ts'

/**
 * Opens a database as it is, of whatever version and program, to read it while a service may write to
 * it. Changes are refused, and none are made: no upgrade, no switch to WAL.
 *
 * @throws StoreError if there is none, SqliteError if it cannot be opened
 */
export function openExisting({ file, lockTimeout }: DatabaseOptions): Database {
  refuseMemory(file)
  if (!existsSync(file)) throw new StoreError(`there is no database ${file}`)
  // Not `readonly`: such a connection leaves a -wal and a -shm beside a database without a service.
  const db = new Sqlite(file, { fileMustExist: true, timeout: lockTimeout })
  db.pragma('query_only = ON')
  return db
}

/**
 * For a process whose work is for others, or for later.
 *
 * @throws StoreError if what it stores would end with it
 */
export function refuseMemory(file: string): void {
  if (file !== IN_MEMORY) return
  throw new StoreError('a database in memory is seen by its own process only; name a file')
}
