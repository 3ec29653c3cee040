interface LimitedLogOptions {
  /** How long a period lasts, in milliseconds; Infinity until its key is forgotten. */
  readonly periodMs: number
  /**
   * How many lines each key can write in a period.
   *
   * @default 1
   */
  readonly linesMax?: number
  /**
   * How many keys can have a period at the same time. A further one makes the log forget the oldest.
   *
   * @default Infinity
   */
  readonly keysMax?: number
  /** Receives the number of omitted lines at the end of a period that had any. */
  readonly onOmitted?: (count: number) => void
}

interface Period {
  lines: number
  readonly timer: NodeJS.Timeout | undefined
}

/** Limits how many lines are logged per key and period, so that what repeats cannot fill the disk. */
export class LimitedLog {
  readonly #options: LimitedLogOptions
  /** The current period of each key, oldest first. The first line begins a period. */
  readonly #periods = new Map<string, Period>()

  constructor(options: LimitedLogOptions) {
    this.#options = options
  }

  /** Calls `log` unless the key has written enough lines in its period. */
  write(key: string, log: () => void): void {
    const { linesMax = 1 } = this.#options
    const period = this.#periods.get(key) ?? this.#begin(key)
    period.lines++
    if (period.lines <= linesMax) log()
  }

  /** Ends the period of a key, so that its next line is logged. */
  forget(key: string): void {
    const { linesMax = 1, onOmitted } = this.#options
    const { lines = 0, timer } = this.#periods.get(key) ?? {}
    clearTimeout(timer)
    this.#periods.delete(key)
    if (lines > linesMax) onOmitted?.(lines - linesMax)
  }

  /** Ends all periods, as when an application closes. */
  forgetAll(): void {
    for (const key of this.#periods.keys()) this.forget(key)
  }

  #begin(key: string): Period {
    const { periodMs, keysMax = Number.POSITIVE_INFINITY } = this.#options
    for (const oldest of this.#periods.keys()) {
      if (this.#periods.size < keysMax) break
      this.forget(oldest)
    }
    // A timer of Infinity would fire at once.
    const isEndless = periodMs === Number.POSITIVE_INFINITY
    const timer = isEndless ? undefined : setTimeout(() => this.forget(key), periodMs).unref()
    const period = { lines: 0, timer }
    this.#periods.set(key, period)
    return period
  }
}
