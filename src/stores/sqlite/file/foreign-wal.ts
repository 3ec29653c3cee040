import { openSync, readSync, realpathSync, statSync } from 'node:fs'
import { StoreError } from '../../shared/store-error.ts'
import { type FileIdentity, identify } from './file-identity.ts'

/** Where the header of an SQLite file has its write version: 1 for a rollback journal, 2 for WAL mode. */
const WRITE_VERSION_OFFSET = 18
const ROLLBACK = 1

/**
 * One for each file that was examined, never closed: closing any descriptor of a database drops all POSIX locks that the
 * process has on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
 */
const descriptors = new Map<FileIdentity, number>()

/**
 * Refuses a database next to a WAL that belongs to another one, such as a backup that was copied over a database whose
 * service was killed. SQLite would mix the two, even in a process that only reads. SQLite writes a WAL only after the
 * header says that there can be one, and backups are not in WAL mode, so the two cannot belong together.
 *
 * Must be called before SQLite opens the file.
 *
 * @throws StoreError
 */
export function refuseForeignWal(file: string): void {
  const identity = identify(file)
  // To open a pipe could take for ever.
  if (identity === undefined || !statSync(file).isFile()) return
  // SQLite keeps the WAL next to the target of a symbolic link.
  const wal = `${realpathSync(file)}-wal`
  if (!statSync(wal, { throwIfNoEntry: false })?.size) return
  let version: number | undefined
  try {
    version = readWriteVersion(file, identity)
  } catch {
    // SQLite fails in the same way, and reports it better.
    return
  }
  if (version !== undefined && version !== ROLLBACK) return
  const what = version === undefined ? 'it is empty' : 'it is a backup that was never used'
  throw new StoreError(
    `cannot use the database ${file}: ${what}, so ${wal} belongs to another database, which was there before: put ` +
      `that one back, or move ${wal} away with its -shm file`,
  )
}

/** Undefined if the file is shorter. */
function readWriteVersion(file: string, identity: FileIdentity): number | undefined {
  const descriptor = descriptors.get(identity) ?? openSync(file, 'r')
  descriptors.set(identity, descriptor)
  const version = Buffer.alloc(1)
  const read = readSync(descriptor, version, 0, 1, WRITE_VERSION_OFFSET)
  return read === 0 ? undefined : version.readUInt8()
}
