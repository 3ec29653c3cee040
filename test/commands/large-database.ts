/** Databases that take a while to copy, and their backups. */
import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openDatabase } from '../../src/stores/sqlite/file/database.ts'

/** Creates a database of a size, and the folder for its backups. */
export function filesOf(t: Test, megabytes: number) {
  const root = t.testdir({ backups: {} })
  const database = join(root, 'plants.db')
  fill(database, megabytes)
  return { database, folder: join(root, 'backups') }
}

export function fill(database: string, megabytes: number): void {
  const db = openDatabase({ file: database, lockTimeout: 0 })
  db.pragma('synchronous = OFF')
  const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  for (let id = 1; id <= megabytes; id++) insert.run(id, 'x'.repeat(1_000_000))
  db.close()
}

/** Resolves once a backup is being written to the folder. */
export async function copying(folder: string): Promise<void> {
  let partial = ''
  for await (const { filename } of watch(folder)) {
    partial = join(folder, filename ?? '')
    if (partial.includes('.partial-')) break
  }
  for await (const { eventType } of watch(partial)) if (eventType === 'change') return
}
