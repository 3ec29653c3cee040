import { existsSync, rmSync } from 'node:fs'
import { link, mkdtemp, open, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { PRIVATE_MODE } from '../../../file-modes.ts'
import type { BackupOptions, BackupSummary } from '../../engine.ts'
import { StoreError } from '../../store-error.ts'
import { CHECKSUM_SUFFIX, checksumLine } from '../feed/checksum.ts'
import { COMPANION_SUFFIXES } from '../file/file-access.ts'
import { copyInThread } from './threaded-backup.ts'

/**
 * Makes a verified copy of a database; see Engine.backUp. Until it is complete, the copy is in a folder
 * `file`.partial-…, which is always removed, except after a kill -9.
 */
export async function backUpDatabase(options: BackupOptions): Promise<BackupSummary> {
  const { database, lockTimeout, file, signal, bytesPerSecond } = options
  assertNameFree(file)
  const folder = await withWriteErrors(file, () => mkdtemp(`${resolve(file)}.partial-`))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    signal.throwIfAborted()
    const copy = join(folder, 'plants.db')
    const copying = copyInThread({ file: database, lockTimeout, copy, bytesPerSecond }, options)
    // Added after the listener that stops the thread, which needs the file.
    signal.addEventListener('abort', removeFolder)
    const summary = await copying
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
 * Gives the copy its name atomically once it is on disk, unless the name has been taken meanwhile. Replaces a checksum
 * without a file, which an earlier backup has left. If the process is killed, the backup may lack a checksum, but never
 * has the wrong one.
 */
async function publish(copy: string, file: string, sha256: string): Promise<void> {
  const [draft, checksum] = [copy + CHECKSUM_SUFFIX, file + CHECKSUM_SUFFIX]
  await writeFile(draft, checksumLine(sha256, file), { mode: PRIVATE_MODE, flush: true })
  await sync(copy)
  if (!existsSync(file)) rmSync(checksum, { force: true })
  // Unlike a rename, a link replaces nothing.
  await link(copy, file)
  await rename(draft, checksum)
  await sync(dirname(resolve(file)))
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function withWriteErrors<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw existsError(file)
    throw new StoreError(`cannot write ${file}: ${message}`, { cause: error })
  }
}

function existsError(file: string): StoreError {
  return new StoreError(`${file} already exists; nothing was overwritten`)
}
