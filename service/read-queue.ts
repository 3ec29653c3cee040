import type { Client } from '../core/contract/operation-types.ts'
import { StoreUnavailable } from './store/plant-store.ts'

/** Makes a read in its turn. */
export type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>

interface WaitingRead {
  readonly client: Client
  readonly start: () => void
  readonly refuse: (error: StoreUnavailable) => void
}

/**
 * The reads of some kind that a thread makes for requests. A few run at a time, and the others wait. Clients take turns
 * (round-robin). If too many reads wait, the client that has most loses its latest.
 */
export class ReadQueue {
  readonly #runningMax: number
  readonly #waitingMax: number
  /** By client, in the order of their turns. */
  readonly #waiting = new Map<string, WaitingRead[]>()
  #waitingCount = 0
  #running = 0

  constructor(max: { readonly running: number; readonly waiting: number }) {
    this.#runningMax = max.running
    this.#waitingMax = max.waiting
  }

  /**
   * Makes a read for a client.
   *
   * @throws StoreUnavailable if too many reads wait, or if the client disconnects while this one waits, or after a job has begun
   */
  take<Result>(client: Client, read: () => Promise<Result>): Promise<Result> {
    return this.#take(client, read, false)
  }

  /**
   * Returns a function that makes the reads of one job, each in a turn of the client. A job that has begun precedes the
   * other reads of its client.
   */
  jobFor(client: Client): InTurn {
    let hasBegun = false
    return (read) => {
      const result = this.#take(client, read, hasBegun)
      hasBegun = true
      return result
    }
  }

  async #take<Result>(
    client: Client,
    read: () => Promise<Result>,
    isContinued: boolean,
  ): Promise<Result> {
    if (isContinued && client.isGone()) throw disconnected()
    if (this.#running < this.#runningMax) this.#running++
    else await this.#wait(client, isContinued)
    try {
      return await read()
    } catch (error) {
      // The waiting reads would find out as slowly.
      if (error instanceof StoreUnavailable && error.reason === 'failing') this.#refuseAll(error)
      throw error
    } finally {
      this.#startNext()
    }
  }

  #wait(client: Client, isContinued: boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { name, subject: owner = name } = client.grant
    const read: WaitingRead = { client, start: resolve, refuse: reject }
    const others = this.#waiting.get(owner) ?? []
    this.#waiting.set(owner, isContinued ? [read, ...others] : [...others, read])
    this.#waitingCount++
    if (this.#waitingCount > this.#waitingMax) this.#refuseGone()
    if (this.#waitingCount > this.#waitingMax) this.#refuseOne()
    return promise
  }

  #refuseGone(): void {
    for (const [owner, reads] of this.#waiting) {
      for (let index = reads.length - 1; index >= 0; index--) {
        if (reads[index]?.client.isGone()) this.#remove(owner, index)?.refuse(disconnected())
      }
    }
  }

  #remove(owner: string, index: number): WaitingRead | undefined {
    const reads = this.#waiting.get(owner) ?? []
    const [read] = reads.splice(index, 1)
    this.#waitingCount--
    if (reads.length === 0) this.#waiting.delete(owner)
    return read
  }

  #refuseOne(): void {
    let most = 0
    let owner = ''
    for (const [each, { length }] of this.#waiting) {
      if (length >= most) [owner, most] = [each, length]
    }
    this.#remove(owner, -1)?.refuse(new StoreUnavailable('busy', 'too many reads are waiting'))
  }

  #refuseAll(error: StoreUnavailable): void {
    for (const { refuse } of [...this.#waiting.values()].flat()) refuse(error)
    this.#waiting.clear()
    this.#waitingCount = 0
  }

  /**
   * Passes the place of a read that has ended to the next one. That starts in the next turn of the event loop, because
   * until then it is unknown whether its client closes the connection after the request.
   */
  #startNext(): void {
    let next = this.#removeNext()
    for (; next?.client.isGone(); next = this.#removeNext()) next.refuse(disconnected())
    if (next === undefined) this.#running--
    else setImmediate(() => this.#startUnlessGone(next))
  }

  #startUnlessGone({ client, start, refuse }: WaitingRead): void {
    if (client.isGone()) {
      refuse(disconnected())
      this.#startNext()
    } else start()
  }

  #removeNext(): WaitingRead | undefined {
    const [owner] = this.#waiting.keys()
    if (owner === undefined) return undefined
    const next = this.#remove(owner, 0)
    const rest = this.#waiting.get(owner)
    if (rest !== undefined) {
      this.#waiting.delete(owner)
      this.#waiting.set(owner, rest)
    }
    return next
  }
}

function disconnected(): StoreUnavailable {
  return new StoreUnavailable('busy', 'the client has disconnected')
}

/** Plants or changes of a small read. */
const SMALL_ROWS_MAX = 100

/** The queues of one thread. */
export class ReadQueues {
  /** One plant, or a small page. Fewer at a time would cost more each. There are places for all connections, by default. */
  readonly #small = new ReadQueue({ running: 64, waiting: 2048 })
  /** Pages of more, and jobs. One at a time leaves time for small reads. */
  readonly large = new ReadQueue({ running: 1, waiting: 64 })

  /** The queue for reads of at most this many plants or changes. */
  of(rows: number): ReadQueue {
    return rows > SMALL_ROWS_MAX ? this.large : this.#small
  }
}
