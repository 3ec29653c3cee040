import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions extends SpawnOptions {
  /** Whether it counts for the coverage. For a service that costs as much as its start again. */
  readonly measured?: boolean
  /** Arguments for Node itself. */
  readonly node?: readonly string[]
}

/**
 * A command line for `spawn` that runs another one without tap, which by way of these variables measures
 * every process, whatever the environment that it is given.
 */
export function unmeasured(line: readonly string[]): [command: string, args: string[]] {
  const script = 'unset NODE_OPTIONS NODE_DISABLE_COMPILE_CACHE; exec "$0" "$@"'
  return ['/bin/sh', ['-c', script, ...line]]
}

/** The owner of a process, which must not outlive it: a test, or a program that runs cleanups. */
export type Owner = Pick<Test, 'teardown'>

/** The real command as a process of its own, which the test never outlives. */
export class Command {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly #exit: Promise<unknown[]>

  constructor(t: Owner, args: readonly string[], options: CommandOptions = {}) {
    const { measured = false, node = [], ...others } = options
    const given = [...node, MAIN, ...args]
    const [command, rest] = measured
      ? [process.execPath, given]
      : unmeasured([process.execPath, ...given])
    this.process = spawn(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...others,
      env: { ...cleanEnvironment(), ...options.env },
    })
    this.process.stdout?.on('data', (chunk) => {
      this.stdout += chunk
    })
    this.process.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
    this.#exit = once(this.process, 'close')
    t.teardown(async () => {
      this.process.kill('SIGKILL')
      await this.#exit
    })
  }

  /** Resolves when standard output matches; rejects if the process ends before it does. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout)
      if (match !== null) return match
      const next = this.process.stdout && once(this.process.stdout, 'data')
      const ended = await Promise.race([next, this.#exit.then(() => 'ended')])
      if (ended === 'ended' && !pattern.test(this.stdout)) {
        throw new Error(`ended without ${pattern}: ${this.stdout}${this.stderr}`)
      }
    }
  }

  /** Resolves to the address when the service listens. */
  async listening(): Promise<string> {
    return (await this.says(/listening on (\S+)[\s\S]*curl /))[1] as string
  }

  async finished(): Promise<Finished> {
    const [code] = await this.#exit
    return { code: code as number | null, stdout: this.stdout, stderr: this.stderr }
  }
}

/** Runs the command to its end. */
export function run(
  t: Owner,
  args: readonly string[],
  options?: CommandOptions,
): Promise<Finished> {
  return new Command(t, args, options).finished()
}

/** Without the settings of whoever runs the tests. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PLANT_STORE_'))
  return Object.fromEntries(kept)
}
