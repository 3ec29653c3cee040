import { closeSync, openSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

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
