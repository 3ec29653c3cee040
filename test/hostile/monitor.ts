import type { Target } from './target.ts'

const INTERVAL_MS = 50

/** In MiB. A process that exceeds it is killed to protect the machine. */
const RESIDENT_MAX = 6 * 1024

/** Samples the memory and file descriptors of a service until it is stopped. */
export class Monitor {
  readonly #target: Target
  readonly #timer: NodeJS.Timeout
  /** Peak resident memory in MiB. */
  memory = 0
  /** Peak number of open file descriptors. */
  descriptors = 0

  constructor(target: Target) {
    this.#target = target
    target.resetPeak()
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS)
    this.#look()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#look()
  }

  #look(): void {
    const { resident = 0, peak = 0 } = this.#target.memory() ?? {}
    this.memory = Math.max(this.memory, Math.round(peak))
    this.descriptors = Math.max(this.descriptors, this.#target.descriptors())
    if (resident > RESIDENT_MAX) this.#target.command.process.kill('SIGKILL')
  }
}
