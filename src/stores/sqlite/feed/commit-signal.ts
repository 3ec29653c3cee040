/** How long to wait for a commit. */
const WAIT_MS = 1000

/** How often a wait checks for commits of other processes. */
const CHECK_INTERVAL_MS = 40

/**
 * Counts the commits of this process, and waits for a commit of any process. Signals with the same memory are the same
 * signal. The count wraps around.
 */
export class CommitSignal {
  readonly memory: SharedArrayBuffer
  readonly #count: Int32Array
  #next: { readonly seen: number; readonly promise: Promise<void> } | undefined
  #isClosed = false

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#count = new Int32Array(memory)
  }

  /** Changes with every commit of this process. Failed attempts count too. */
  get value(): number {
    return Atomics.load(this.#count, 0)
  }

  /** Reports a commit, or an attempt that failed. */
  add(): void {
    Atomics.add(this.#count, 0, 1)
    Atomics.notify(this.#count, 0)
  }

  /**
   * Resolves at the next commit, after a second without one, or on `close`. Does not keep the process running. All calls
   * between two commits share one promise. With `shareResult`, calls after a commit would share the previous one, which
   * resolves a moment later.
   *
   * @param readVersion returns another value after a commit of another process
   */
  next(readVersion: () => unknown): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    const seen = this.value
    if (this.#next?.seen === seen) return this.#next.promise
    const promise = this.#wait(seen, readVersion).then(() => {
      if (this.#next?.promise === promise) this.#next = undefined
    })
    this.#next = { seen, promise }
    return promise
  }

  close(): void {
    this.#isClosed = true
    // This also wakes the other threads, which then continue to wait.
    Atomics.notify(this.#count, 0)
  }

  async #wait(seen: number, readVersion: () => unknown): Promise<void> {
    const version = readVersion()
    const end = performance.now() + WAIT_MS
    do await Atomics.waitAsync(this.#count, 0, seen, CHECK_INTERVAL_MS).value
    while (
      !this.#isClosed &&
      this.value === seen &&
      readVersion() === version &&
      performance.now() < end
    )
  }
}
