import { realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SpaceFigures } from '../store-figures.ts'

/** How long to wait for a file system, which a failing disk or network can block for minutes. */
const TIMEOUT_MS = 1000

/** The sizes of a database's files and of its file system; undefined if they cannot be read in time. */
export async function measureSpace(database: string): Promise<SpaceFigures | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), TIMEOUT_MS)
  const space = readSpace(database).catch(() => undefined)
  return Promise.race([space, late]).finally(() => clearTimeout(timer))
}

async function readSpace(database: string): Promise<SpaceFigures> {
  // SQLite keeps the WAL next to the target of a symbolic link.
  const file = await realpath(database)
  const [{ size }, wal, { bsize, bavail, blocks }] = await Promise.all([
    stat(file),
    // The last connection to close removes it.
    stat(`${file}-wal`).catch(() => ({ size: 0 })),
    statfs(dirname(file)),
  ])
  return { database: size, wal: wal.size, free: bavail * bsize, total: blocks * bsize }
}
