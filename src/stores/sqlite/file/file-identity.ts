import { statSync } from 'node:fs'
import { StoreUnavailable } from '../../../../service/plant-store.ts'

/** The device and the inode of a file: the same for each of its names, and different for a file that replaces it. */
export type FileIdentity = string

/**
 * The path of an open database. SQLite does not notice if its file is deleted, or if another file takes its name. It
 * would continue with the open file, which is lost after a restart. A new connection would even apply the WAL of the
 * open file to the other one, and crash the process by truncating the memory that the connections share.
 */
export class OpenFile {
  readonly path: string
  readonly identity: FileIdentity | undefined

  /** @param identity of the open file; by default, that of the file at the path */
  constructor(path: string, identity = identify(path)) {
    this.path = path
    this.identity = identity
  }

  /** Takes a microsecond. */
  isInPlace(): boolean {
    return identify(this.path) === this.identity
  }

  /** @throws StoreUnavailable if another file, or none, is at the path */
  assertInPlace(): void {
    if (this.isInPlace()) return
    throw new StoreUnavailable(
      'failing',
      `${this.path} was deleted or replaced while it is open, so changes are rejected. Start no other process ` +
        'on this path before this one has stopped. Put the file back, or read all plants through the API first',
      'its database file was deleted or replaced',
    )
  }
}

/** Undefined if there is no file, or it cannot be examined. */
export function identify(path: string): FileIdentity | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
