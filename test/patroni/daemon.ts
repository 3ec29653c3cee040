import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import type { Owner } from '../../tools/postgres/postgres-server.ts'
import { kill } from '../../tools/postgres/processes.ts'

/** The user that the programs run as; undefined if that is the one who runs the test. */
export interface User {
  readonly uid: number
  readonly gid: number
}

export interface DaemonOptions {
  readonly line: readonly string[]
  /** Where its output goes. */
  readonly log: string
  readonly user?: User | undefined
  readonly env?: NodeJS.ProcessEnv
}

/** A program that runs in a process group of its own, so that Ctrl-C does not reach it. It can be started again. */
export class Daemon {
  readonly #options: DaemonOptions
  #process: ChildProcess | undefined

  constructor(owner: Owner, options: DaemonOptions) {
    this.#options = options
    owner.teardown(() => this.kill())
    process.on('exit', () => this.signal('SIGKILL'))
  }

  get isRunning(): boolean {
    const { exitCode, signalCode } = this.#process ?? { exitCode: 0, signalCode: null }
    return exitCode === null && signalCode === null
  }

  start(): void {
    const { line, log, user, env } = this.#options
    const [program = '', ...args] = line
    const output = openSync(log, 'a')
    this.#process = spawn(program, args, {
      detached: true,
      stdio: ['ignore', output, output],
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
      ...user,
    })
  }

  /** Signals the program and what it has started in its process group. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid !== undefined && this.isRunning) kill(-pid, signal)
  }

  /** Resolves once it has ended. */
  async kill(): Promise<void> {
    if (this.#process === undefined || !this.isRunning) return
    const gone = once(this.#process, 'exit')
    this.signal('SIGKILL')
    await gone
  }
}
