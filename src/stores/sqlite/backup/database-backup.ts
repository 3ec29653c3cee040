import { execFile } from 'node:child_process'
import { closeSync, existsSync, fdatasyncSync, openSync, rmSync } from 'node:fs'
import { link, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { propertiesOf } from '../../../../core/known.ts'
import { PRIVATE_MODE } from '../../../system/file-modes.ts'
import { codeOf, messageOf } from '../../../system/user-errors.ts'
import type { BackupOptions, BackupSummary } from '../../shared/engine.ts'
import { StoreError } from '../../shared/store-error.ts'
import { CHECKSUM_SUFFIX, checksumLine } from '../check/checksum.ts'
import { findFault } from '../check/sqlite-check.ts'
import { openExisting } from '../file/database.ts'
import { COMPANION_SUFFIXES } from '../file/file-modes-check.ts'
import { explain } from '../file/sqlite-errors.ts'
import type { Verification } from './copy-verification.ts'

/** Pages copied at a time: 1 MB, so that commits of the service wait for at most that much. */
const PAGES_PER_STEP = 256

/** In the published package it is JavaScript, like this module. */
const VERIFICATION = fileURLToPath(
  new URL(`./copy-verification${extname(import.meta.url)}`, import.meta.url),
)

/** Makes a verified copy of a database; see Engine.backUp. */
export function backUpDatabase(options: BackupOptions): Promise<BackupSummary> {
  return copyVerified(options, copyPages, publishWithChecksum)
}

/**
 * Copies a database to a new file and verifies it. Until then, the copy is in a folder `file`.partial-…, which is always
 * removed, except after a kill -9.
 *
 * @param copyTo writes the copy to a path
 * @param publish gets the path of the verified copy, which is on disk, and links the file to it
 */
export async function copyVerified(
  options: BackupOptions,
  copyTo: (copy: string, options: BackupOptions) => Promise<void>,
  publish: (copy: string, file: string, sha256: string) => Promise<void>,
): Promise<BackupSummary> {
  const { file, signal } = options
  assertNameFree(file)
  const folder = await withWriteErrors(file, () => mkdtemp(`${resolve(file)}.partial-`))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    signal.throwIfAborted()
    signal.addEventListener('abort', removeFolder)
    const copy = join(folder, 'plants.db')
    await withReadErrors(options, () => copyTo(copy, options))
    const summary = await withReadErrors(options, () => verify(copy, options))
    await withWriteErrors(file, () => sync(copy))
    signal.throwIfAborted()
    signal.removeEventListener('abort', removeFolder)
    options.onPublish?.()
    await withWriteErrors(file, () => publish(copy, file, summary.sha256))
    return summary
  } finally {
    signal.removeEventListener('abort', removeFolder)
    removeFolder()
  }
}

/** SQLite would apply the WAL or journal of another database to the copy when it first opens it. */
function assertNameFree(file: string): void {
  const suffixes = ['', ...COMPANION_SUFFIXES]
  const taken = suffixes.map((suffix) => file + suffix).find(existsSync)
  if (taken !== undefined) throw existsError(taken)
  if (COMPANION_SUFFIXES.some((suffix) => file.endsWith(suffix))) {
    throw new StoreError(
      `cannot write ${file}: SQLite uses such names for its own files; choose another name`,
    )
  }
}

/**
 * Copies a database as it is at one moment, with its schema version, while others write to it. The copy is one file,
 * without a WAL.
 */
async function copyPages(copy: string, options: BackupOptions): Promise<void> {
  const { database, lockTimeout, onProgress, signal } = options
  const db = openExisting({ file: database, lockTimeout })
  // Private regardless of the database's mode, because it contains digests of tokens.
  const descriptor = openSync(copy, 'wx', PRIVATE_MODE)
  try {
    // SQLite restarts a backup whenever another connection writes, so under load it would never end. Within a
    // transaction it copies that transaction's snapshot instead.
    db.exec('BEGIN')
    const reason = findFault(db)
    if (reason !== undefined) throw copyError(options.database, reason)
    const { totalPages } = await db.backup(copy, {
      progress({ totalPages, remainingPages }) {
        signal.throwIfAborted()
        // One sync at the end would delay the service's commits.
        fdatasyncSync(descriptor)
        onProgress(totalPages - remainingPages, totalPages)
        return PAGES_PER_STEP
      },
    })
    onProgress(totalPages, totalPages)
  } finally {
    db.close()
    // Last, because closing any descriptor of a file drops all POSIX locks that the process has on it.
    closeSync(descriptor)
  }
}

/** Reads the file itself, because better-sqlite3 also resolves when a lock kept it from copying anything. */
async function verify(copy: string, options: BackupOptions): Promise<BackupSummary> {
  const { signal } = options
  const verified = promisify(execFile)(process.execPath, [VERIFICATION, copy], { signal })
  const { stdout } = await verified.catch(() => {
    signal.throwIfAborted()
    throw copyError(options.database, 'the process that verifies the copy ended unexpectedly')
  })
  const verification: Verification = JSON.parse(stdout)
  if ('fault' in verification) throw copyError(options.database, verification.fault)
  return verification
}

/**
 * Replaces a checksum without a file, which an earlier backup has left. If the process is killed, the backup may lack a
 * checksum, but never has the wrong one.
 */
async function publishWithChecksum(copy: string, file: string, sha256: string): Promise<void> {
  const [draft, checksum] = [copy + CHECKSUM_SUFFIX, file + CHECKSUM_SUFFIX]
  await writeFile(draft, checksumLine(sha256, file), { mode: PRIVATE_MODE, flush: true })
  if (!existsSync(file)) rmSync(checksum, { force: true })
  await publish(copy, file)
  await rename(draft, checksum)
  await sync(dirname(resolve(file)))
}

/**
 * Gives the copy its name atomically, unless the name has been taken meanwhile.
 *
 * @param makeLink fails on file systems without hard links
 */
export async function publish(copy: string, file: string, makeLink = link): Promise<void> {
  // Unlike a rename, a link replaces nothing.
  await makeLink(copy, file).catch((error) => {
    if (codeOf(error) === 'EEXIST') throw error
    return reserveAndRename(copy, file)
  })
  await sync(dirname(resolve(file)))
}

/** For exFAT and SMB, which have no hard links. If the process is killed meanwhile, an empty file can stay. */
async function reserveAndRename(copy: string, file: string): Promise<void> {
  const reservation = await open(file, 'wx', PRIVATE_MODE)
  await reservation.close()
  await rename(copy, file).catch(async (error) => {
    await rm(file)
    throw error
  })
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function withReadErrors<Result>(
  options: BackupOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const isSystemError = propertiesOf(error).errno !== undefined
    if (!isSystemError && !(error instanceof Sqlite.SqliteError)) throw error
    throw copyError(options.database, explain(error))
  }
}

export async function withWriteErrors<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StoreError) throw error
    if (codeOf(error) === 'EEXIST') throw existsError(file)
    throw new StoreError(`cannot write ${file}: ${messageOf(error)}`, { cause: error })
  }
}

export function copyError(database: string, reason: string): StoreError {
  return new StoreError(`cannot copy the database ${database}: ${reason}`)
}

function existsError(file: string): StoreError {
  return new StoreError(`${file} already exists; nothing was overwritten`)
}
