const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

/** What a program has to undo at its end, also when a signal ends it. */
export class Teardowns {
  readonly #works: (() => unknown)[] = []
  #running: Promise<void> | undefined

  constructor() {
    for (const [signal, code] of SIGNALS) {
      process.once(signal, () => this.run().then(() => process.exit(code)))
    }
  }

  teardown(work: () => unknown): void {
    this.#works.unshift(work)
  }

  /** Resolves once everything is undone, the latest first. A second call waits for the first one. */
  run(): Promise<void> {
    this.#running ??= this.#runAll()
    return this.#running
  }

  async #runAll(): Promise<void> {
    for (const work of this.#works) {
      try {
        await work()
      } catch (error) {
        console.error(error)
        process.exitCode = 1
      }
    }
  }
}
