import { realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Verdict } from '../finding.ts'

/** What SQLite keeps next to a database, and takes for its own if it finds it there. */
export const COMPANIONS = ['-wal', '-shm', '-journal']

/** Where the service leaves the first token of a database: in `own` if another database has taken `shared`. */
export function tokenFilesOf(database: string): { readonly shared: string; readonly own: string } {
  return { shared: join(dirname(database), 'access-token'), own: `${database}.access-token` }
}

/** The permissions of users other than the owner: those of the group and those of all others. */
const RIGHTS = { read: 0o044, write: 0o022 }

/**
 * Names each file of a database that users other than its owner can read or write, by its mode: the database, its
 * log and journal, and the files of its first token. A warning rather than a fault, since it may be intended.
 *
 * @param database the name of a file that is there
 */
export function* fileAccess(
  database: string,
  platform: NodeJS.Platform = process.platform,
): Generator<Verdict> {
  if (platform === 'win32') return yield { sound: true, says: 'unknown: Windows has no file modes' }
  // SQLite keeps them next to the file that a symbolic link leads to.
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

/** No permissions if there is no such file. */
function modeOf(file: string): number {
  try {
    return statSync(file).mode & 0o777
  } catch {
    return 0
  }
}
