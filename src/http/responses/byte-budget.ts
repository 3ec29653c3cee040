import { type Clock, systemClock } from '../../../core/time/clock.ts'

/**
 * Request bodies and responses up to this size count towards no budget, so that messages of the usual size get through
 * while large ones exhaust it.
 */
export const SMALL_MESSAGE_BYTES = 2 ** 14

/** The size of each of two budgets: for all large bodies being received, and for all large responses being sent. */
export const LARGE_MESSAGES_BYTES_MAX = 2 ** 26

/** How long a share keeps its bytes even if others need them. */
const SAFE_MS = 1000

/**
 * Limits the bytes that the requests of one thread hold in memory for one purpose. While they are used up, the request
 * that has held some the longest, and for at least a second, loses them to the next one that needs some. Slow clients
 * therefore cannot lock out others.
 */
export class ByteBudget {
  readonly #max: number
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The shares that hold bytes, oldest first. */
  readonly #shares = new Set<Share>()
  #held = 0

  constructor(max: number, clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#max = max
    this.#clock = clock
  }

  /** @param onLoss is called when the bytes are lost to others; must free the memory */
  share(onLoss: () => void): Share {
    return new Share(this, onLoss)
  }

  /** Takes bytes for a share and returns whether they fit. While no bytes are held, any number fits. */
  take(share: Share, bytes: number): boolean {
    if (!this.#fits(bytes)) this.#makeRoom(share, bytes)
    if (!this.#fits(bytes)) return false
    if (share.bytes === 0) share.since = this.#clock.monotonic()
    this.#shares.add(share)
    this.#held += bytes
    share.bytes += bytes
    return true
  }

  release(share: Share): void {
    this.#shares.delete(share)
    this.#held -= share.bytes
    share.bytes = 0
  }

  /** Takes bytes from others only if that makes enough room. */
  #makeRoom(needy: Share, bytes: number): void {
    const now = this.#clock.monotonic()
    const losers: Share[] = []
    let lost = 0
    for (const share of this.#shares) {
      if (this.#fits(bytes, lost) || now - share.since < SAFE_MS) break
      if (share === needy) continue
      losers.push(share)
      lost += share.bytes
    }
    if (!this.#fits(bytes, lost)) return
    for (const share of losers) {
      share.release()
      share.onLoss()
    }
  }

  /** @param lost bytes that others would lose */
  #fits(bytes: number, lost = 0): boolean {
    const held = this.#held - lost
    return held === 0 || held + bytes <= this.#max
  }
}

/** The bytes that one request holds of a budget. */
export class Share {
  readonly #budget: ByteBudget
  readonly onLoss: () => void
  bytes = 0
  /** When it took the first of its bytes. */
  since = 0

  constructor(budget: ByteBudget, onLoss: () => void) {
    this.#budget = budget
    this.onLoss = onLoss
  }

  /** Takes more bytes and returns whether they fit. */
  take(bytes: number): boolean {
    return this.#budget.take(this, bytes)
  }

  /** Returns all bytes. */
  release(): void {
    this.#budget.release(this)
  }
}
