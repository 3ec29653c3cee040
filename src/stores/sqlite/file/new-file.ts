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
import { PRIVATE_MODE } from '../../../file-modes.ts'

/** The number of symbolic links that Linux follows (path_resolution(7)). */
const LINKS_MAX = 40

/**
 * Creates an empty file with PRIVATE_MODE for SQLite to open as a new database, because SQLite leaves the mode to the
 * umask. The WAL and the journal inherit the mode of the database. An existing file is left unchanged.
 *
 * The file is closed before it gets its name. Closing any descriptor of a database drops all POSIX locks that the
 * process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2), and another thread may open the database as soon
 * as it exists. If SQLite then fails, the empty file stays, because another process may already use it.
 *
 * Failures are ignored: SQLite runs into them too and reports them better. On a file system without hard links, SQLite
 * creates the file itself, with its own mode.
 */
export function createDatabaseFile(file: string): void {
  let draft: string | undefined
  try {
    const target = followLinks(file)
    draft = `${target}.new-${randomUUID()}`
    closeSync(openSync(draft, 'wx', PRIVATE_MODE))
    // Unlike a rename, a link replaces nothing if another process was first.
    linkSync(draft, target)
  } catch {
  } finally {
    if (draft !== undefined) rmSync(draft, { force: true })
  }
}

/** Where open(2) would create the file: a symbolic link may point to a file that does not exist yet. */
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
