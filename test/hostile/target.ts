import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Command, type Owner } from '../helpers/command.ts'

export const TOKEN = 'a-token-for-the-test'

/** A common hard limit of file descriptors. Test machines often allow far more. */
const DESCRIPTORS_MAX = 4096

const LOGGED_ERROR = /"level":[56]0|Unhandled/

/** Characters of a log line that are reported. */
const LINE_MAX = 1000

/** In MiB. */
export interface Memory {
  readonly resident: number
  /** Peak since the last `resetPeak`. */
  readonly peak: number
}

/** A service process as in production, with its memory and file descriptors. */
export class Target {
  readonly command: Command
  readonly port: number
  readonly database: string
  isAlive = true

  private constructor(command: Command, port: number, database: string) {
    this.command = command
    this.port = port
    this.database = database
    command.finished().then(() => {
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
    const target = new Target(command, Number(new URL(JSON.parse(line).url).port), database)
    spawnSync('prlimit', [`--pid=${target.pid}`, `--nofile=${DESCRIPTORS_MAX}`])
    return target
  }

  get pid(): number {
    return this.command.process.pid as number
  }

  /** Reads /proc, so Linux only. Undefined if the process has ended. */
  memory(): Memory | undefined {
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
      const of = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+)`).exec(status)?.[1]) / 1024
      const [resident, peak] = [of('VmRSS'), of('VmHWM')]
      return Number.isNaN(peak) ? undefined : { resident, peak }
    } catch {
      return undefined
    }
  }

  /** Resets the peak to the current value; see `clear_refs` in proc(5). */
  resetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5')
  }

  /** Open file descriptors; 0 if the process has ended. */
  descriptors(): number {
    try {
      return readdirSync(`/proc/${this.pid}/fd`).length
    } catch {
      return 0
    }
  }

  /** The last log line of each kind of error. */
  loggedErrors(): string[] {
    const lines = this.command.stderr.split('\n').filter((line) => LOGGED_ERROR.test(line))
    const kinds = new Map(lines.map((line) => [kindOf(line), line.slice(0, LINE_MAX)]))
    return [...kinds.values()]
  }

  /**
   * Sends SIGTERM, then SIGKILL after `timeoutMs`.
   *
   * @returns how long it took, and the exit code or the signal that ended the process
   */
  async stop(timeoutMs: number): Promise<{ ms: number; end: number | string | null }> {
    const begun = performance.now()
    this.command.process.kill('SIGTERM')
    const abort = new AbortController()
    const { signal } = abort
    const kill = () => this.command.process.kill('SIGKILL')
    delay(timeoutMs, undefined, { signal }).then(kill, () => {})
    const { code } = await this.command.finished()
    abort.abort()
    const ms = Math.round(performance.now() - begun)
    return { ms, end: code ?? this.command.process.signalCode }
  }
}

/** The error message of a log line, or the line itself. */
function kindOf(line: string): string {
  return /"err":\{"type":"\w+","message":"[^"]*/.exec(line)?.[0].replace(/\d+/g, '0') ?? line
}
