import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { InFlight } from './in-flight.ts'

/**
 * The limit of one transaction. Larger ones are not faster, delay their first change, and take more memory, because
 * the text is copied to the writer.
 */
const TRANSACTION_MAX: Size = { changes: 512, text: 2 ** 23 }

/** The result of a change for which the transaction had no room. */
export type Postponed = 'postponed'

/** Whether a transaction of a size takes no further change. Its last one may exceed the limit. */
export function isFull({ changes, text }: Size): boolean {
  return changes >= TRANSACTION_MAX.changes || text >= TRANSACTION_MAX.text
}

export interface GroupCommitOptions<Change, Result> {
  /**
   * Makes changes in one transaction and resolves to their results. Can postpone any but the first, and refuse some. One
   * call at a time is in flight.
   *
   * @param size of all changes
   */
  readonly commit: (
    changes: readonly Change[],
    size: Size,
  ) => Promise<(Result | Postponed | StoreUnavailable)[]>
  /** The size that a change counts toward the limits while it waits. */
  readonly sizeOf: (change: Change) => Size
  /** By default, no other thread shares the limit of waiting changes. */
  readonly waiting?: WaitingChanges
}

interface Waiting<Change, Result> {
  readonly change: Change
  readonly size: Size
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: changes that arrive during a commit share the next transaction, and so one wait for the disk. A change
 * resolves after the commit that contains it. Only one transaction is in flight: a second one would keep the writer busy
 * while the results of the first arrive, but both would be smaller, and a transaction costs as much as 20 changes.
 *
 * A transaction is limited in number and text; its last change may exceed both. All waiting changes together are limited
 * too; the last may exceed the text only. Otherwise a very large change could never be accepted. A change counts as
 * waiting until it has a result.
 *
 * A change that counts as several, such as a list of changes, waits while others fill the transaction, but each
 * transaction begins with one. So a single change waits for the lists of at most one transaction of its own thread,
 * however many are queued. Other threads can have one more each. A change that was postponed, because it affects large
 * plants, waits like a list. Few such changes can wait, because each may take as long as hundreds of others.
 */
export class GroupCommit<Change, Result> {
  readonly #commit: GroupCommitOptions<Change, Result>['commit']
  readonly #sizeOf: (change: Change) => Size
  readonly #arrived: Waiting<Change, Result>[] = []
  /** Waiting changes that count as several, after those that were postponed. */
  readonly #arrivedLarge: Waiting<Change, Result>[] = []
  /** How many of those were postponed. They are the first. */
  #postponedCount = 0
  readonly #waiting: WaitingChanges
  readonly #unsettled = new InFlight()
  #isCommitting = false

  constructor({
    commit,
    sizeOf,
    waiting = new WaitingChanges(),
  }: GroupCommitOptions<Change, Result>) {
    this.#commit = commit
    this.#sizeOf = sizeOf
    this.#waiting = waiting
  }

  /** @throws StoreUnavailable if the store cannot commit now, or too many changes are waiting */
  submit(change: Change): Promise<Result> {
    const size = this.#sizeOf(change)
    if (!this.#waiting.add(size)) {
      return Promise.reject(new StoreUnavailable('busy', `${this.#waiting} are waiting`))
    }
    return new Promise((resolve, reject) => {
      const waiting = { change, size, resolve, reject }
      const queue = size.changes > 1 ? this.#arrivedLarge : this.#arrived
      // Deferred, so that all changes of this turn of the event loop share a transaction.
      if (queue.length === 0) setImmediate(() => this.#dispatch())
      queue.push(waiting)
      this.#unsettled.enter()
    })
  }

  /** Resolves when no change is waiting or in flight. */
  settle(): Promise<void> {
    return this.#unsettled.settle()
  }

  #dispatch(): void {
    if (!this.#isCommitting && this.#arrived.length + this.#arrivedLarge.length > 0)
      this.#commitNext()
  }

  async #commitNext(): Promise<void> {
    this.#isCommitting = true
    let taken = this.#take()
    try {
      const changes = taken.map(({ change }) => change)
      const results = await this.#commit(changes, sizeOfAll(taken))
      const postponed: Waiting<Change, Result>[] = []
      for (const [index, waiting] of taken.entries()) {
        const result = results[index] as Result | Postponed | StoreUnavailable
        if (result === 'postponed') postponed.push(waiting)
        else if (result instanceof StoreUnavailable) waiting.reject(result)
        else waiting.resolve(result)
      }
      const kept = postponed.slice(0, this.#waiting.postponedMax - this.#postponedCount)
      for (const { reject } of postponed.slice(kept.length)) reject(POSTPONED_TOO_MANY)
      this.#arrivedLarge.splice(this.#postponedCount, 0, ...kept)
      this.#postponedCount += kept.length
      if (kept.length > 0) taken = taken.filter((change) => !kept.includes(change))
    } catch (error) {
      // Changes that arrived during the failed commit would only wait to fail the same way.
      const others =
        error instanceof StoreUnavailable
          ? [...this.#arrived.splice(0), ...this.#arrivedLarge.splice(0)]
          : []
      if (others.length > 0) this.#postponedCount = 0
      this.#waiting.remove(sizeOfAll(others))
      this.#unsettled.leave(others.length)
      for (const { reject } of [...taken, ...others]) reject(error)
    }
    this.#waiting.remove(sizeOfAll(taken))
    this.#unsettled.leave(taken.length)
    this.#isCommitting = false
    this.#dispatch()
  }

  /** Removes the changes of the next transaction from the queues. */
  #take(): Waiting<Change, Result>[] {
    const taken = takeFirst(this.#arrived)
    const large = takeFirst(this.#arrivedLarge, sizeOfAll(taken), 1)
    this.#postponedCount = Math.max(0, this.#postponedCount - large.length)
    return [...large, ...taken]
  }
}

/**
 * Removes the first changes of a queue: as many as fit into a transaction.
 *
 * @param size of the transaction so far
 * @param min how many to remove even if the transaction is full
 */
function takeFirst<Change, Result>(
  queue: Waiting<Change, Result>[],
  size: Size = EMPTY,
  min = 0,
): Waiting<Change, Result>[] {
  let count = 0
  let { changes, text } = size
  for (const waiting of queue) {
    if (count >= min && isFull({ changes, text })) break
    count += 1
    changes += waiting.size.changes
    text += waiting.size.text
  }
  return queue.splice(0, count)
}

function sizeOfAll(changes: readonly { readonly size: Size }[]): Size {
  return sumSizes(changes.map(({ size }) => size))
}

/** The size of one or more changes. */
export interface Size {
  /** A list counts as its number of changes. */
  readonly changes: number
  /** In UTF-16 units. */
  readonly text: number
}

const EMPTY: Size = { changes: 0, text: 0 }

/** The sum of several sizes. */
export function sumSizes(sizes: Iterable<Size>): Size {
  let changes = 0
  let text = 0
  for (const size of sizes) {
    changes += size.changes
    text += size.text
  }
  return { changes, text }
}

/** The limit of all waiting changes of a process. Beyond it, the store is busy. */
const WAITING_MAX: Size = { changes: 10_000, text: 2 ** 26 }

/** The part of the limit that lists leave to other changes. Otherwise one client with a dozen connections could lock out all others. */
const RESERVED_PART = 0.2

/** The least limit of a thread: two of the largest lists of a request, and room for other changes. */
const CHANGES_MIN = 2500

/** The limit of waiting changes of a process that were postponed, and the least limit of a thread. */
const POSTPONED_MAX = 32
const POSTPONED_MIN = 16

const POSTPONED_TOO_MANY = new StoreUnavailable(
  'busy',
  'too many changes of large plants are waiting',
)

/** The total size of the waiting changes of one thread. */
export class WaitingChanges {
  /** How many postponed changes can wait. */
  readonly postponedMax: number
  readonly #max: Size
  #changes = 0
  #text = 0

  /** @param threads how many threads share the limit, which is divided by their number */
  constructor(threads = 1) {
    this.#max = {
      changes: Math.max(WAITING_MAX.changes / threads, CHANGES_MIN),
      text: WAITING_MAX.text / threads,
    }
    this.postponedMax = Math.max(POSTPONED_MAX / threads, POSTPONED_MIN)
  }

  /** The number of changes. */
  get count(): number {
    return this.#changes
  }

  /** Counts one or more changes, unless that would exceed the limit. Returns whether they were counted. */
  add({ changes, text }: Size): boolean {
    const part = changes > 1 ? 1 - RESERVED_PART : 1
    if (this.#changes + changes > this.#max.changes * part) return false
    if (this.#text >= this.#max.text) return false
    this.#changes += changes
    this.#text += text
    return true
  }

  remove({ changes, text }: Size): void {
    this.#changes -= changes
    this.#text -= text
  }

  toString(): string {
    return `${this.#changes} changes with ${this.#text} characters`
  }
}
