import type { Client } from '../contract/operation-types.ts'
import { StoreUnavailable } from './plant-store.ts'
import type { AcquireSlot } from './short-read.ts'

/**
 * How many long reads can wait. Each takes a few milliseconds, so the last one starts within a second even if a single
 * client has sent them all.
 */
const WAITING_MAX = 64

/** A long read that runs. */
interface LongRead {
  readonly owner: string
  /** Reads start in the order of their rounds. A client has one read in each. */
  readonly round: number
}

interface QueuedRead extends LongRead {
  readonly start: () => void
  readonly refuse: (reason: string) => void
}

/**
 * Runs the long reads of a thread one at a time, so that the store always has time for short ones. Clients take turns
 * (round-robin). If too many reads wait, the last one is refused: the latest of the client that has most.
 */
export class LongReads {
  /** In the order in which they start. */
  readonly #waiting: QueuedRead[] = []
  #running: LongRead | undefined

  /**
   * Performs a read that may turn out to be long.
   *
   * @param read waits for its parameter before it reads more than SHORT_READ. See AcquireSlot.
   * @throws StoreUnavailable if too many long reads wait, or if the client gives up while this one waits
   */
  async perform<Result>(
    client: Client,
    read: (acquireSlot: AcquireSlot) => Promise<Result>,
  ): Promise<Result> {
    const { name, subject = name } = client.grant
    let runs = false
    const acquireSlot = async () => {
      if (this.#running === undefined) this.#running = { owner: subject, round: 0 }
      else await this.#wait(subject, client.signal, this.#running)
      runs = true
    }
    try {
      return await read(acquireSlot)
    } finally {
      if (runs) this.#release()
    }
  }

  async #wait(owner: string, signal: AbortSignal, running: LongRead): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // After the last read of its owner, or with the next ones of others.
    const last = this.#waiting.findLast((read) => read.owner === owner) ?? running
    const read: QueuedRead = {
      owner,
      round: last.round + 1,
      start: resolve,
      refuse: (reason: string) => reject(new StoreUnavailable('busy', reason)),
    }
    const index = this.#waiting.findIndex(({ round }) => round > read.round)
    this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, read)
    if (this.#waiting.length > WAITING_MAX)
      this.#waiting.pop()?.refuse('too many long reads are waiting')
    const abandon = () => {
      const index = this.#waiting.indexOf(read)
      if (index !== -1) this.#waiting.splice(index, 1)
      read.refuse('the client has disconnected')
    }
    if (signal.aborted) abandon()
    signal.addEventListener('abort', abandon)
    return promise.finally(() => signal.removeEventListener('abort', abandon))
  }

  #release(): void {
    const next = this.#waiting.shift()
    this.#running = next
    next?.start()
  }
}
