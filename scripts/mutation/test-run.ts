import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { endLeftovers } from './leftovers.ts'
import type { Workspace } from './workspace.ts'

export interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'timeout'
  readonly durationMs: number
  /** The end of what the test printed. */
  readonly output: string
}

/** How much of the output is kept, in characters. */
const OUTPUT_MAX = 20_000

/** Names the workspace in the environment of every process that a test starts. */
export const WORKSPACE_VARIABLE = 'MUTATION_WORKSPACE'

/**
 * Runs one test file to its end, or to its first failure, and leaves no process behind.
 *
 * @param signal kills the test
 */
export async function runTest(
  workspace: Workspace,
  test: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<TestRun> {
  const start = performance.now()
  const child = spawn(process.execPath, [test], {
    cwd: workspace.folder,
    // A process group of its own.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TAP_BAIL: '1',
      // In seconds. A test that is run without its runner otherwise ends after 30.
      TAP_TIMEOUT: String(Math.ceil(timeoutMs / 1000)),
      TMPDIR: workspace.temporary,
      [WORKSPACE_VARIABLE]: workspace.folder,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_MAX)
    })
  }
  let isLate = false
  const kill = () => killGroup(child.pid)
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, timeoutMs)
  signal.addEventListener('abort', kill)
  // Not `close`, for which a service that is left behind would keep us waiting.
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  signal.removeEventListener('abort', kill)
  kill()
  await endLeftovers(WORKSPACE_VARIABLE, workspace.folder)
  workspace.clean()
  signal.throwIfAborted()
  const outcome = isLate ? 'timeout' : code === 0 ? 'passed' : 'failed'
  return { outcome, durationMs: performance.now() - start, output }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
