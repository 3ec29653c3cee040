import { realpathSync, statSync } from 'node:fs'
import { NON_OWNER, PERMISSIONS } from '../../../system/file-modes.ts'
import { type Finding, ok, warning } from '../../shared/check-result.ts'
import { locateTokenFiles } from '../../shared/engine.ts'

/** Suffixes of the files that SQLite keeps next to a database. It uses any that it finds there. */
export const COMPANION_SUFFIXES = ['-wal', '-shm', '-journal']

/**
 * Reports each file of a database whose mode lets other users read or write it: the database, its WAL and journal, and
 * its token files. That is a warning rather than a fault, because it may be intended.
 *
 * @param database path of an existing file
 */
export function* checkFileModes(
  database: string,
  platform: NodeJS.Platform = process.platform,
): Generator<Finding> {
  if (platform === 'win32') return yield ok('unknown: Windows has no file modes')
  // SQLite keeps its files next to the target of a symbolic link.
  const target = realpathSync(database)
  const files = ['', ...COMPANION_SUFFIXES].map((suffix) => target + suffix)
  let isPrivate = true
  for (const file of [...files, ...Object.values(locateTokenFiles(database))]) {
    const mode = readPermissions(file)
    const rights = (['read', 'write'] as const).filter((right) => (mode & NON_OWNER[right]) !== 0)
    if (rights.length === 0) continue
    isPrivate = false
    yield warning(
      `mode 0${mode.toString(8).padStart(3, '0')} lets others ${rights.join(' and ')} ${file}; chmod 600 makes it private`,
    )
  }
  if (isPrivate) yield ok('only the owner can read or write the files')
}

/** The permission bits of a file; 0 if it cannot be examined. */
function readPermissions(file: string): number {
  try {
    return statSync(file).mode & PERMISSIONS
  } catch {
    return 0
  }
}
