import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Command, type Owner } from '../helpers/processes/command.ts'

export const TOKEN = 'a-token-for-the-test'

/** The memory bound that docs/SECURITY.md states, in MiB. */
export const MEMORY_MAX = 1024

/** In MiB. A process that exceeds it is killed to protect the machine. */
const KILLED_AT = 6 * MEMORY_MAX

/** A common hard limit of file descriptors. Test machines often allow far more. */
const DESCRIPTORS_MAX = 4096

const SAMPLE_INTERVAL_MS = 50

const LOGGED_ERROR = /"level":[56]0|Unhandled/

/** Characters of a log line that are reported. */
const LINE_MAX = 1000

/** A service process as in production, with its memory and file descriptors. Reads /proc, so Linux only. */
export class Target {
  readonly command: Command
  readonly port: number
  readonly database: string
  isAlive = true
  /** Peak resident memory in MiB. */
  memory = 0
  /** Peak number of open file descriptors. */
  descriptors = 0

  private constructor(command: Command, port: number, database: string) {
    this.command = command
    this.port = port
    this.database = database
    const timer = setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS)
    command.finished().then(() => {
      clearInterval(timer)
      this.isAlive = false
    })
  }

  /** Starts a service on loopback, which ends with `owner` at the latest. Resolves when it listens. */
  static async start(owner: Owner, database: string, args: readonly string[] = []) {
    const command = new Command(
      owner,
      ['--port=0', '--ready-json', `--database=${database}`, ...args],
      { env: { PLANT_STORE_TOKEN: TOKEN } },
    )
    const [line] = await command.says(/^\{.*\}$/m)
    spawnSync('prlimit', [`--pid=${command.process.pid}`, `--nofile=${DESCRIPTORS_MAX}`])
    return new Target(command, Number(new URL(JSON.parse(line).url).port), database)
  }

  #sample(): void {
    const folder = `/proc/${this.command.process.pid}`
    try {
      const status = readFileSync(`${folder}/status`, 'utf8')
      const of = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+)`).exec(status)?.[1]) / 1024
      // A process that has just ended has no memory.
      this.memory = Math.round(of('VmHWM')) || this.memory
      this.descriptors = Math.max(this.descriptors, readdirSync(`${folder}/fd`).length)
      if (of('VmRSS') > KILLED_AT) this.command.process.kill('SIGKILL')
    } catch {
      // The process has ended.
    }
  }

  /** The first errors in the log. */
  loggedErrors(): string[] {
    const lines = this.command.stderr.split('\n').filter((line) => LOGGED_ERROR.test(line))
    return lines.slice(0, 10).map((line) => line.slice(0, LINE_MAX))
  }

  /**
   * Sends SIGTERM, then SIGKILL after `timeoutMs`.
   *
   * @returns how long it took, and the exit code or the signal that ended the process
   */
  async stop(timeoutMs: number): Promise<{ ms: number; end: number | string | null }> {
    const begun = performance.now()
    this.command.process.kill('SIGTERM')
    const timer = setTimeout(() => this.command.process.kill('SIGKILL'), timeoutMs)
    const { code } = await this.command.finished()
    clearTimeout(timer)
    const ms = Math.round(performance.now() - begun)
    return { ms, end: code ?? this.command.process.signalCode }
  }
}
