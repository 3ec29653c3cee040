import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Verdict } from '../check-result.ts'

/** Suffixes of the files that SQLite keeps next to a database. It uses any that it finds there. */
export const COMPANIONS = ['-wal', '-shm', '-journal']

/** Where the service writes the first token of a database: `own` if another database uses `shared`. */
export function tokenFilesOf(database: string): { readonly shared: string; readonly own: string } {
  return { shared: join(dirname(database), 'access-token'), own: `${database}.access-token` }
}

/** Permission bits of the group and all other users. */
const RIGHTS = { read: 0o044, write: 0o022 }

/**
 * Reports each file of a database whose mode lets other users read or write it: the database, its WAL and journal, and
 * its token files. A warning rather than a fault, because it may be intended.
 *
 * @param database path of an existing file
 */
export function* fileAccess(
  database: string,
  platform: NodeJS.Platform = process.platform,
): Generator<Verdict> {
  if (platform === 'win32') return yield { sound: true, says: 'unknown: Windows has no file modes' }
  // SQLite keeps its files next to the target of a symbolic link.
  const target = realpathSync(database)
  const files = ['', ...COMPANIONS].map((ending) => target + ending)
  let isPrivate = true
  for (const file of [...files, ...Object.values(tokenFilesOf(database))]) {
    const mode = modeOf(file)
    const rights = Object.entries(RIGHTS).filter(([, bits]) => (mode & bits) !== 0)
    if (rights.length === 0) continue
    isPrivate = false
    const can = rights.map(([right]) => right).join(' and ')
    const says = `mode 0${mode.toString(8).padStart(3, '0')} lets others ${can} ${file}; chmod 600 makes it private`
    yield { sound: true, warning: true, says }
  }
  if (isPrivate) yield { sound: true, says: 'only the owner can read or write the files' }
}

/** The permission bits of a file; 0 if it cannot be examined. */
function modeOf(file: string): number {
  try {
    return statSync(file).mode & 0o777
  } catch {
    return 0
  }
}
