import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { type Deadline, TimedOut } from './deadline.ts'

/** A limit on the connections that some calls use at the same time, so that the others are left to other calls. */
export class ConnectionShare {
  readonly #max: number
  #used = 0
  /** Calls that wait, in order. */
  readonly #waiting = new Set<() => void>()

  /** @param max connections */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Resolves when the call may use a connection. The caller calls `leave` afterwards.
   *
   * @throws StoreUnavailable if that is not before the deadline
   */
  async enter(deadline: Deadline): Promise<void> {
    if (this.#used < this.#max) {
      this.#used++
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    try {
      await deadline.limit(promise)
    } catch (error) {
      const isWaiting = this.#waiting.delete(resolve)
      if (!isWaiting) this.leave()
      if (error instanceof TimedOut) throw new StoreUnavailable('busy', 'too many changes wait')
      throw error
    }
  }

  /** Lets the next call use the connection. */
  leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#used--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
