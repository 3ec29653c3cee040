/** Ends the processes that a killed test leaves running in process groups of their own. */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

/** The folders, in shared memory, where the tests' PostgreSQL servers keep their data. */
const SERVER_FOLDER = /^\/dev\/shm\/plant-store-postgres-[^/]+/

/** How long a server can take to shut down. */
const SHUTDOWN_MS = 5000

/**
 * Ends every process that has a variable with this value in its environment. Does nothing on systems without `/proc`.
 */
export async function endLeftovers(variable: string, value: string): Promise<void> {
  const leftovers = listProcesses().filter((pid) =>
    readEnvironment(pid).includes(`${variable}=${value}`),
  )
  await Promise.all(leftovers.map(end))
}

async function end(pid: number): Promise<void> {
  const folder = findServerFolder(pid)
  if (folder === undefined) return signal(pid, 'SIGKILL')
  // A server that is killed does not release its shared memory.
  signal(pid, 'SIGQUIT')
  const deadline = performance.now() + SHUTDOWN_MS
  while (existsSync(`/proc/${pid}`) && performance.now() < deadline) await setTimeout(20)
  signal(pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function listProcesses(): number[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** The environment of a process; empty if the process has ended or belongs to another user. */
function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function findServerFolder(pid: number): string | undefined {
  try {
    return SERVER_FOLDER.exec(readlinkSync(`/proc/${pid}/cwd`))?.[0]
  } catch {
    return undefined
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
