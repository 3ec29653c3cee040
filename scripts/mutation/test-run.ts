import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { endLeftovers } from './leftovers.ts'
import type { Workspace } from './workspace.ts'

export interface TestRun {
  readonly outcome: 'passed' | 'failed' | 'timeout'
  readonly durationMs: number
  /** The last part of what the test printed. */
  readonly output: string
}

/** How many characters of the output to keep. */
const OUTPUT_MAX = 20_000

/** The environment variable that marks every process started by a test with the test's workspace. */
export const WORKSPACE_VARIABLE = 'MUTATION_WORKSPACE'

/**
 * Runs a test file until it ends or first fails, then ends all processes that it has started.
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
    // Creates a process group, so that all of it can be killed.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TAP_BAIL: '1',
      // In seconds. Without the tap runner, a test otherwise times out after 30.
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
  // Not `close`, which would wait for a service that the test has left running.
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
