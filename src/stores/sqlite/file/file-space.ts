import { realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shareResult } from '../../../shared-result.ts'
import { within } from '../../../within.ts'

/** Sizes in bytes. */
export interface SpaceFigures {
  readonly wal: number
  readonly database: number
  /** Of the file system. */
  readonly free: number
  readonly total: number
}

/** How long to wait for a file system, which a failing disk or network can block for minutes. */
const TIMEOUT_MS = 1000

/**
 * Creates a function that measures a database's files and its file system. It resolves to undefined if they cannot be
 * read in time. Only one measurement is under way at a time, because each can block a thread of libuv's small pool.
 */
export function prepareMeasurement(
  database: string,
  read = readSpace,
  timeoutMs = TIMEOUT_MS,
): () => Promise<SpaceFigures | undefined> {
  const readShared = shareResult(() => read(database))
  return () => {
    const space = readShared().catch(() => undefined)
    return within(space, timeoutMs, undefined)
  }
}

async function readSpace(database: string): Promise<SpaceFigures> {
  // SQLite keeps the WAL next to the target of a symbolic link.
  const file = await realpath(database)
  // One after another, so that a file system that does not respond blocks one thread only.
  const { size } = await stat(file)
  // The last connection to close removes it.
  const wal = await stat(`${file}-wal`).catch(() => ({ size: 0 }))
  const { bsize, bavail, blocks } = await statfs(dirname(file))
  return { database: size, wal: wal.size, free: bavail * bsize, total: blocks * bsize }
}
