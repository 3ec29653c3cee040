/** Shared memory of PostgreSQL, which a killed server leaves until it starts again. */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The files in memory that a server's processes have mapped. */
export function mappedFiles(pids: readonly number[]): string[] {
  const files = pids.flatMap((pid) => {
    try {
      return readFileSync(`/proc/${pid}/maps`, 'utf8').match(/\/dev\/shm\/PostgreSQL\.\d+/g) ?? []
    } catch {
      return []
    }
  })
  return [...new Set(files)]
}

/**
 * Removes what a server has left that was killed and not started again.
 *
 * @param data its data folder, where line 7 of a file has the id of a System V segment
 */
export function removeSharedMemory(data: string, files: readonly string[]): void {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    const id = lines[6]?.trim().split(/\s+/)[1]
    for (const file of files) rmSync(file, { force: true })
    if (id !== undefined) execFileSync('ipcrm', ['--shmem-id', id], { stdio: 'ignore' })
  } catch {
    // The server has ended properly, or never started.
  }
}
