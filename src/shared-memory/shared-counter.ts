/** A 32-bit integer that threads can share: counters with the same memory have the same value. */
export class SharedCounter {
  readonly memory: SharedArrayBuffer
  readonly #cell: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#cell = new Int32Array(memory)
  }

  get value(): number {
    return Atomics.load(this.#cell, 0)
  }

  /** Returns the value before the addition. */
  add(amount: number): number {
    return Atomics.add(this.#cell, 0, amount)
  }

  /** Adds if the current value permits it, and returns whether it did. */
  addIf(permits: (value: number) => boolean, amount: number): boolean {
    for (;;) {
      const value = Atomics.load(this.#cell, 0)
      if (!permits(value)) return false
      if (Atomics.compareExchange(this.#cell, 0, value, value + amount) === value) return true
    }
  }

  /** Sets the value to 0 and returns the one before. */
  reset(): number {
    return Atomics.exchange(this.#cell, 0, 0)
  }
}
