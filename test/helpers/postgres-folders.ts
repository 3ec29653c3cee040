/** Where servers keep what they have. */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The usual file system in memory, of Linux. */
const MEMORY = '/dev/shm'

/** Several times what all the servers have that run at once, in bytes. */
const ROOM = 4 * 2 ** 30

/**
 * A folder for data that need not outlive the machine. Where there is one in memory, with room, a server has
 * a third less to do: it makes many files, and waits for each of them to be on disk.
 */
export function inMemory(): string {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > ROOM ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Makes a folder that every user may enter, gone when the owner is. */
export function makeFolder(t: { teardown(work: () => unknown): void }, parent: string): string {
  const folder = mkdtempSync(join(parent, 'plant-store-'))
  t.teardown(() => removeFolder(folder))
  chmodSync(folder, 0o755)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
