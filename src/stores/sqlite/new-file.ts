import { randomUUID } from 'node:crypto'
import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { PRIVATE_MODE } from '../../private-mode.ts'

/** As many symbolic links as Linux follows (path_resolution(7)). */
const LINKS_MAX = 40

/**
 * Makes an empty file with PRIVATE_MODE, for SQLite to open as a new database: by itself it leaves the mode to the
 * umask. The log and the journal get the mode of the database. If there is a file of that name, nothing changes.
 *
 * The file is closed before it has its name. Closing any descriptor of a database drops all POSIX locks that the
 * process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2), and another thread may open the database the
 * moment it is there. For the same reason an empty file stays if SQLite then fails: another process may use it.
 *
 * Failures are left to SQLite, which meets them too and explains them better. Only without hard links does it make
 * the file after all, with a mode of its own choice.
 */
export function createDatabaseFile(file: string): void {
  let draft: string | undefined
  try {
    const target = followLinks(file)
    draft = `${target}.new-${randomUUID()}`
    closeSync(openSync(draft, 'wx', PRIVATE_MODE))
    // Unlike a rename this replaces nothing, should another process be first.
    linkSync(draft, target)
  } catch {
  } finally {
    if (draft !== undefined) rmSync(draft, { force: true })
  }
}

/** Where open(2) would make the file: a symbolic link may lead to one that is yet to be made. */
function followLinks(file: string): string {
  let target = file
  for (let links = 0; links < LINKS_MAX && isLink(target); links++) {
    target = resolve(realpathSync(dirname(target)), readlinkSync(target))
  }
  return target
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true
}
