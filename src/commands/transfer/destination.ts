import { randomUUID } from 'node:crypto'
import { createWriteStream, type Stats } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { locateDatabase } from '../../stores/engines.ts'
import { locateTokenFiles } from '../../stores/shared/engine.ts'
import { PERMISSIONS, PRIVATE_MODE } from '../../system/file-modes.ts'
import { FileError } from '../../system/user-errors.ts'
import { STDIO } from '../../transfer/format.ts'

/** The target of an export. */
export interface Destination {
  readonly stream: NodeJS.WritableStream
  /** Replaces the target with what was written. Call it once everything is written. */
  publish(): Promise<void>
  /** Deletes what was written, unless it is published. */
  discard(): Promise<void>
}

/**
 * Opens a file for an export, or standard output for `-`. The file appears under its name only when it is complete. It
 * replaces an existing file, because exports are repeated, but never a file of the database. A new file is private. One
 * that replaces a file of the same user keeps its mode.
 *
 * @throws FileError if the file is a folder or belongs to the database, and errors of the file system
 */
export async function openDestination(file: string, database: string): Promise<Destination> {
  if (file === STDIO) return unpublished(process.stdout)
  const present = await stat(file).catch(() => undefined)
  if (present?.isDirectory()) throw new FileError(`cannot write ${file}: it is a folder`)
  // A device or a named pipe is written to, not replaced.
  if (present?.isFile() === false) return unpublished(createWriteStream(file))
  const target = await realpath(file).catch(() => file)
  for (const own of await listOwnFiles(database)) {
    if (await isSameFile(target, own)) {
      throw new FileError(`cannot write ${file}: the database uses that file`)
    }
  }
  const partial = `${target}.partial-${randomUUID()}`
  const handle = await open(partial, 'wx', PRIVATE_MODE)
  if (present !== undefined) await inheritAccess(handle, present)
  const stream = handle.createWriteStream({ flush: true })
  return {
    stream,
    publish: () => rename(partial, target),
    discard: async () => {
      stream.destroy()
      await rm(partial, { force: true })
    },
  }
}

/** The files of a database, including those that do not exist at the moment. */
async function listOwnFiles(database: string): Promise<string[]> {
  const place = locateDatabase(database)
  if (!('file' in place)) return []
  const target = await realpath(place.file)
  const files = ['', ...place.suffixes].map((suffix) => target + suffix)
  return [...files, ...Object.values(locateTokenFiles(place.file))]
}

/** Whether two paths lead to the same file, which need not exist. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  return (await locate(one)) === (await locate(other))
}

/** The path of a file without symbolic links. A folder that does not exist is only resolved. */
async function locate(file: string): Promise<string> {
  const path = resolve(file)
  const inFolder = () => realpath(dirname(path)).then((folder) => join(folder, basename(path)))
  return realpath(path)
    .catch(inFolder)
    .catch(() => path)
}

/**
 * Gives a file the group and mode of the one it replaces, whose owner may have shared it on purpose. The file stays
 * private if the group cannot be kept, or if another user owns the old file: in a shared folder, anyone could have
 * created it.
 */
async function inheritAccess(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  if (uid !== process.geteuid?.()) return
  try {
    await handle.chown(uid, gid)
    await handle.chmod(mode & PERMISSIONS)
  } catch {}
}

function unpublished(stream: NodeJS.WritableStream): Destination {
  return { stream, publish: async () => {}, discard: async () => {} }
}
