import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '../../../system/user-errors.ts'
import { type Finding, fault, ok } from '../../shared/check-result.ts'
import { StoreError } from '../../shared/store-error.ts'

/** The checksum of a backup is in a file next to it, in the format of sha256sum. */
export const CHECKSUM_SUFFIX = '.sha256'

const CHUNK_BYTES = 2 ** 20

/** The first bytes of an SQLite file, and the two at offset 18 of one that is not in WAL mode. */
const MAGIC = 'SQLite format 3\0'
const MODE_OFFSET = 18
const ROLLBACK_MODE = '\x01\x01'

/** The SHA-256 of a file in hexadecimal. No connection of this process can have the file open; see isUnused. */
export function hashFile(file: string): string {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const descriptor = openSync(file, 'r')
  try {
    for (let bytes = -1; bytes !== 0; ) {
      bytes = readSync(descriptor, chunk)
      hash.update(chunk.subarray(0, bytes))
    }
  } finally {
    closeSync(descriptor)
  }
  return hash.digest('hex')
}

/** The line that sha256sum prints for a file. It marks names with escaped characters by a leading backslash. */
export function checksumLine(sha256: string, file: string): string {
  const name = basename(file)
  const escaped = name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  return `${escaped === name ? '' : '\\'}${sha256}  ${escaped}\n`
}

/**
 * Whether a backup has never been opened for writing, which switches it to WAL mode for good. No connection of this
 * process can have the file open: closing any descriptor of a file drops all POSIX locks that the process has on it
 * (https://www.sqlite.org/howtocorrupt.html, 2.2).
 *
 * @returns false if the file cannot be read, because it must not be taken for a backup that can be removed
 */
export function isUnused(file: string): boolean {
  const header = Buffer.alloc(MODE_OFFSET + ROLLBACK_MODE.length)
  try {
    const descriptor = openSync(file, 'r')
    try {
      readSync(descriptor, header)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false
  }
  const text = header.toString('latin1')
  return text.startsWith(MAGIC) && text.endsWith(ROLLBACK_MODE)
}

/** Compares a backup with its checksum, if it has one. */
export function* checkChecksum(file: string): Generator<Finding> {
  if (!existsSync(file + CHECKSUM_SUFFIX)) return
  if (!isUnused(file)) return yield ok('not compared: the backup has been used as a database since')
  yield compareChecksum(file, hashFile(file))
}

/** @param sha256 of the backup */
export function compareChecksum(file: string, sha256: string): Finding {
  const checksum = file + CHECKSUM_SUFFIX
  const [, expected] = /^\\?([0-9a-f]{64}) /.exec(readChecksum(checksum)) ?? []
  if (expected === undefined) return fault(`${checksum} has no SHA-256`)
  const isSame = sha256 === expected
  return isSame ? ok(expected) : fault(`the file has changed since the backup: see ${checksum}`)
}

function readChecksum(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new StoreError(`cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}
