import { randomUUID } from 'node:crypto'
import { createWriteStream, type Stats } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../config/config.ts'
import { fileError } from '../config/file-error.ts'
import { PERMISSIONS, PRIVATE_MODE } from '../file-modes.ts'
import { locationOf } from '../stores/engines.ts'
import { STANDARD } from '../transfer/format.ts'

/** Where a catalogue is written to. */
export interface Destination {
  readonly stream: NodeJS.WritableStream
  /** Puts what is written in the place of what was there. Call it when all is written. */
  publish(): Promise<void>
  /** Leaves nothing of what is not published. */
  discard(): Promise<void>
}

/**
 * Opens what a file names on the command line. A file has its name only when it is whole, and replaces one
 * that was there, as an export is made again and again; but never the database. A new file is private; one that
 * replaces a file of the same user keeps its mode.
 *
 * @throws ConfigError if it cannot be written to
 */
export async function destinationOf(file: string, database: string): Promise<Destination> {
  if (file === STANDARD) return through(process.stdout)
  const present = await stat(file).catch(() => undefined)
  if (present?.isDirectory()) throw new ConfigError(`cannot write ${file}: it is a folder`)
  // A device or a named pipe is to be written to, not to be replaced.
  if (present?.isFile() === false) return through(createWriteStream(file))
  const target = await realpath(file).catch(() => file)
  const place = locationOf(database)
  if ('file' in place && target === (await realpath(place.file))) {
    throw new ConfigError(`cannot write ${file}: it is the database itself`)
  }
  const partial = `${target}.partial-${randomUUID()}`
  const handle = await open(partial, 'wx', PRIVATE_MODE)
  if (present !== undefined) await inheritAccess(handle, present)
  return {
    stream: handle.createWriteStream({ flush: true }),
    publish: () => rename(partial, target),
    discard: () => rm(partial, { force: true }),
  }
}

/**
 * Gives a file the group and mode of the one it replaces, because the owner may have given others access on
 * purpose. It stays private if the group cannot be kept, or if another user owns the old file: in a shared folder
 * anyone could have created it.
 */
async function inheritAccess(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  if (uid !== process.geteuid?.()) return
  try {
    await handle.chown(uid, gid)
    await handle.chmod(mode & PERMISSIONS)
  } catch {}
}

function through(stream: NodeJS.WritableStream): Destination {
  return { stream, publish: async () => {}, discard: async () => {} }
}

/**
 * Prints to standard output; does nothing if its reader has gone.
 *
 * @throws ConfigError if it cannot be written
 */
export async function print(text: string): Promise<void> {
  try {
    await pipeline([text], process.stdout)
  } catch (error) {
    if (!isClosedPipe(error)) throw fileError('cannot write standard output', error)
  }
}

/** Whether it is what happens when whoever reads us goes, as `| head` does. */
export function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE'
}
