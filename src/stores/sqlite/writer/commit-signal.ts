/** How long to wait for a commit, in milliseconds. */
const WAIT_MS = 1000

/** Commits of other processes are looked for until this time after the last call of `next`. */
const DEMAND_NS = 1_500_000_000n

/** Indexes of the 32-bit cells: the number of commits, and how often a thread has begun to wait for one. */
const COMMITS = 0
const DEMANDS = 1
/** Index of a 64-bit cell. */
const DEADLINE = 1
const BYTES = 16

/**
 * Counts commits, and wakes threads that wait for one. Signals with the same memory are the same signal. The count
 * wraps around.
 */
export class CommitSignal {
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array
  /** When demand for commits ends, by the clock of `process.hrtime`, which all threads share. */
  readonly #deadline: BigInt64Array
  #next: { readonly seen: number; readonly promise: Promise<void> } | undefined
  #isClosed = false

  constructor(memory = new SharedArrayBuffer(BYTES)) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
    this.#deadline = new BigInt64Array(memory)
  }

  /** The number of commits so far. */
  get value(): number {
    return Atomics.load(this.#cells, COMMITS)
  }

  /** Whether a thread waits for a commit, or has lately. */
  get isAwaited(): boolean {
    return process.hrtime.bigint() < Atomics.load(this.#deadline, DEADLINE)
  }

  /** Reports a commit. */
  add(): void {
    Atomics.add(this.#cells, COMMITS, 1)
    if (this.isAwaited) this.#wake()
  }

  /**
   * Resolves at the next commit, after a second without one, or on `close`. Does not keep the process running. All calls
   * between two commits share one promise.
   */
  next(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#demand()
    const seen = this.value
    if (this.#next?.seen === seen) return this.#next.promise
    const promise = this.#wait(COMMITS, seen, WAIT_MS).then(() => {
      if (this.#next?.promise === promise) this.#next = undefined
    })
    this.#next = { seen, promise }
    return promise
  }

  /** Resolves when `isAwaited` is true, or on `close`. Does not keep the process running. */
  async awaited(): Promise<void> {
    const seen = Atomics.load(this.#cells, DEMANDS)
    if (!this.isAwaited && !this.#isClosed) await this.#wait(DEMANDS, seen)
  }

  /** Wakes all threads, because they share the store. */
  close(): void {
    this.#isClosed = true
    this.#wake()
    Atomics.notify(this.#cells, DEMANDS)
  }

  #demand(): void {
    Atomics.store(this.#deadline, DEADLINE, process.hrtime.bigint() + DEMAND_NS)
    // Even if there is demand already: a thread may have found none just before.
    Atomics.add(this.#cells, DEMANDS, 1)
    Atomics.notify(this.#cells, DEMANDS)
  }

  #wake(): void {
    Atomics.notify(this.#cells, COMMITS)
  }

  async #wait(cell: number, value: number, timeout?: number): Promise<void> {
    await Atomics.waitAsync(this.#cells, cell, value, timeout).value
  }
}
