import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'

/** Returns a function that runs statements on a database file. */
export function sql(statements: string): (file: string) => void {
  return (file) => new Sqlite(file).exec(statements).close()
}

/** Makes a backup of a database. */
export function backUp(database: string, file: string) {
  const { signal } = new AbortController()
  return backUpDatabase({ database, file, lockTimeout: 0, signal, onProgress() {} })
}

/** The error that a function throws, if any. */
export function thrownBy(work: () => unknown): Error | undefined {
  try {
    work()
  } catch (error) {
    return error as Error
  }
}

/** Overwrites a page with rows of a table in a closed database. */
export function overwritePage(file: string, table: string): void {
  const db = new Sqlite(file)
  const page = db.prepare('SELECT max(pageno) FROM dbstat WHERE name = ?').pluck().get(table)
  const size = db.pragma('page_size', { simple: true }) as number
  db.close()
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(size, 0xff), 0, size, (Number(page) - 1) * size)
  closeSync(handle)
}

/** The number of transactions in the WAL of a database, counted by their commit frames. */
export function commitsIn(database: string): number {
  const log = `${database}-wal`
  if (!existsSync(log)) return 0
  const bytes = readFileSync(log)
  if (bytes.length === 0) return 0
  // https://www.sqlite.org/fileformat2.html#walformat
  const pageSize = bytes.readUInt32BE(8)
  const salts = bytes.subarray(16, 24)
  let commits = 0
  for (let frame = 32; frame < bytes.length; frame += 24 + pageSize) {
    if (!bytes.subarray(frame + 8, frame + 16).equals(salts)) break
    if (bytes.readUInt32BE(frame + 4) !== 0) commits += 1
  }
  return commits
}
