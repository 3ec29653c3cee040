import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const MAIN = fileURLToPath(new URL('../../../bin/plant-store.js', import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandOptions extends SpawnOptions {
  /** Options for Node itself. */
  readonly node?: readonly string[]
  /** The program, by default that of this checkout. */
  readonly main?: string
}

/**
 * Wraps a command line for `spawn` so that the process does not load tap. In a run of one file, tap adds its loader to
 * the environment of every child process, so a shell has to remove it.
 */
export function withoutTap(line: readonly string[]): [command: string, args: string[]] {
  const script = 'unset NODE_OPTIONS; exec "$0" "$@"'
  return ['/bin/sh', ['-c', script, ...line]]
}

/** Owns a process, which must not outlive it: a test, or a program that runs teardowns. */
export type Owner = Pick<Test, 'teardown'>

/** The real command in a process of its own, killed when the test ends. */
export class Command {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly #exit: Promise<unknown[]>

  constructor(t: Owner, args: readonly string[], options: CommandOptions = {}) {
    const { node = [], main = MAIN, ...others } = options
    const [command, rest] = withoutTap([process.execPath, ...node, main, ...args])
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

  /** Resolves once standard output matches; rejects if the process ends first. */
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

  /** Resolves to the service's URL once it listens. */
  async listening(): Promise<string> {
    return (await this.says(/listening on (\S+)[\s\S]*curl /))[1] as string
  }

  async finished(): Promise<Finished> {
    const [code] = await this.#exit
    return { code: code as number | null, stdout: this.stdout, stderr: this.stderr }
  }
}

/** Runs the command in a process of its own and waits for its end. */
export function run(
  t: Owner,
  args: readonly string[],
  options?: CommandOptions,
): Promise<Finished> {
  return new Command(t, args, options).finished()
}

/** The environment without the service's settings. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PLANT_STORE_'))
  return Object.fromEntries(kept)
}
