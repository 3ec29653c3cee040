import { statSync } from 'node:fs'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { damagedError } from '../../shared/store-error.ts'
import { mapError } from './sqlite-errors.ts'

/** The device and the inode of a file: the same for each of its names, and different for a file that replaces it. */
export type FileIdentity = string

/**
 * The path of an open database. SQLite does not notice if its file is deleted, or if another file takes its name. It
 * would continue with the open file, which is lost after a restart. A new connection would even apply the WAL of the
 * open file to the other one, and crash the process by truncating the memory that the connections share.
 */
export class OpenFile {
  readonly path: string
  readonly identity: FileIdentity | undefined
  /** Whether a thread of the store has found the file damaged. */
  readonly damage: SharedArrayBuffer
  readonly #damage: Int32Array

  /**
   * @param identity of the open file; by default, that of the file at the path
   * @param damage of the same file in another thread
   */
  constructor(
    path: string,
    identity = identify(path),
    damage = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.path = path
    this.identity = identity
    this.damage = damage
    this.#damage = new Int32Array(damage)
  }

  get isDamaged(): boolean {
    return Atomics.load(this.#damage, 0) !== 0
  }

  /** Maps an error as `mapError` does, and remembers if the file is damaged. */
  readonly mapError = (error: unknown): unknown => {
    const mapped = mapError(error)
    const isDamage = mapped instanceof StoreUnavailable && mapped.reason === 'damaged'
    if (isDamage) Atomics.store(this.#damage, 0, 1)
    return mapped
  }

  /**
   * @throws StoreUnavailable if the file is damaged or not in place: a change could make the damage worse, or would be
   *   lost
   */
  assertSound(): void {
    this.assertInPlace()
    if (this.isDamaged) throw damagedError('its file was found damaged earlier')
  }

  /** Takes a microsecond. */
  isInPlace(): boolean {
    return identify(this.path) === this.identity
  }

  /** @throws StoreUnavailable if another file, or none, is at the path */
  assertInPlace(): void {
    if (this.isInPlace()) return
    throw new StoreUnavailable(
      'failing',
      `${this.path} was deleted or replaced while it is open, so changes are rejected. Start no other process ` +
        'on this path before this one has stopped. Put the file back, or read all plants through the API first',
      'its database file was deleted or replaced',
    )
  }
}

/** Undefined if there is no file, or it cannot be examined. */
export function identify(path: string): FileIdentity | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
