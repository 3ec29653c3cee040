import { hash, randomBytes } from 'node:crypto'

/** How many entries share a set, in which an entry is searched linearly. */
const WAYS = 8
const SETS = 2 ** 11

/** Each entry has a key and a value. */
const ENTRY_LENGTH = 2
const SET_LENGTH = WAYS * ENTRY_LENGTH
/** The salt follows the sets. */
const SALT = SETS * SET_LENGTH
const TABLE_BYTES = (SALT + 1) * BigInt64Array.BYTES_PER_ELEMENT

/** No digest of a key, except for one in 2^64. */
const FREE = 0n

/**
 * A map from keys to integers that threads can share: tables with the same memory have the same entries. It is a
 * set-associative cache with room for some 10,000 entries: if the set of a new key is full, the entry with the smallest
 * value is forgotten.
 *
 * No operation waits for another thread. If two threads insert entries into one set at the same moment, one of them can
 * be lost, or be there twice, of which one is used.
 */
export class SharedTable {
  readonly memory: SharedArrayBuffer
  readonly #cells: BigInt64Array

  constructor(memory = allocate()) {
    this.memory = memory
    this.#cells = new BigInt64Array(memory)
  }

  /** The key for a string. Nobody outside this process can find strings whose keys share a set. */
  toKey(text: string): SharedKey {
    return hash('sha256', `${this.#cells[SALT]} ${text}`, 'buffer').readBigInt64LE()
  }

  /** The value of a key; undefined if it has none, or was forgotten. */
  get(key: SharedKey): number | undefined {
    const entry = this.#find(key)
    return entry === undefined ? undefined : Number(Atomics.load(this.#cells, entry + 1))
  }

  set(key: SharedKey, value: number): void {
    this.update(key, () => value)
  }

  /**
   * Changes the value of a key atomically.
   *
   * @param change returns the new value, or undefined to leave the table as it is; may be called several times
   * @returns whether the table changed
   */
  update(key: SharedKey, change: (value: number | undefined) => number | undefined): boolean {
    for (;;) {
      const entry = this.#find(key)
      const before = entry === undefined ? undefined : Atomics.load(this.#cells, entry + 1)
      const after = change(before === undefined ? undefined : Number(before))
      if (after === undefined) return false
      if (entry === undefined || before === undefined) {
        if (this.#insert(key, BigInt(after))) return true
      } else if (
        Atomics.compareExchange(this.#cells, entry + 1, before, BigInt(after)) === before
      ) {
        return true
      }
    }
  }

  delete(key: SharedKey): void {
    const entry = this.#find(key)
    if (entry === undefined) return
    Atomics.store(this.#cells, entry + 1, 0n)
    Atomics.compareExchange(this.#cells, entry, key, FREE)
  }

  #find(key: SharedKey): number | undefined {
    const start = startOfSet(key)
    for (let entry = start; entry < start + SET_LENGTH; entry += ENTRY_LENGTH) {
      if (Atomics.load(this.#cells, entry) === key) return entry
    }
    return undefined
  }

  /** Returns false if another thread was faster. */
  #insert(key: SharedKey, value: bigint): boolean {
    if (this.#find(key) !== undefined) return false
    const entry = this.#leastEntry(startOfSet(key))
    const before = Atomics.load(this.#cells, entry)
    if (Atomics.compareExchange(this.#cells, entry, before, key) !== before) return false
    Atomics.store(this.#cells, entry + 1, value)
    return true
  }

  /** A free entry of a set, or the one with the smallest value. */
  #leastEntry(start: number): number {
    let least = start
    for (let entry = start; entry < start + SET_LENGTH; entry += ENTRY_LENGTH) {
      if (Atomics.load(this.#cells, entry) === FREE) return entry
      if (Atomics.load(this.#cells, entry + 1) < Atomics.load(this.#cells, least + 1)) least = entry
    }
    return least
  }
}

/** 64 bits of a digest, so that all keys take the same space. */
export type SharedKey = bigint

function allocate(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(TABLE_BYTES)
  new BigInt64Array(memory)[SALT] = randomBytes(8).readBigInt64LE()
  return memory
}

function startOfSet(key: SharedKey): number {
  return (Number(BigInt.asUintN(32, key)) % SETS) * SET_LENGTH
}
