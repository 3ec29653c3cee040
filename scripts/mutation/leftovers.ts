/** The processes that a killed test leaves behind in process groups of their own. */
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'

/** The folders in memory where the tests' PostgreSQL servers keep their data. */
const SERVER_FOLDER = /^\/dev\/shm\/plant-store-postgres-[^/]+/

/** Kills every process with this variable in its environment. Only Linux tells; elsewhere it does nothing. */
export function killLeftovers(variable: string, value: string): void {
  for (const pid of processes()) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      if (!environment.includes(`${variable}=${value}`)) continue
      const folder = SERVER_FOLDER.exec(readlinkSync(`/proc/${pid}/cwd`))?.[0]
      process.kill(pid, 'SIGKILL')
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    } catch {
      // It has ended, or is another user's.
    }
  }
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}
