/** Temporary folders for the data of tests and benchmarks. */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux's usual file system in memory. */
const MEMORY = '/dev/shm'

/** Several times the data of all servers that run at once, in bytes. */
const ROOM = 4 * 2 ** 30

/**
 * The parent of folders for data that need not survive a reboot: in memory if there is room, because a server spends a
 * third of its time creating files and waiting until each is on disk.
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

/** Creates a folder that every user can enter. It is removed with its owner. */
export function makeFolder(t: { teardown(work: () => unknown): void }, parent: string): string {
  const folder = mkdtempSync(join(parent, 'plant-store-'))
  t.teardown(() => removeFolder(folder))
  chmodSync(folder, 0o755)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
