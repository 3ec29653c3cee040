import { StoreUnavailable } from '../../service/plant-store.ts'
import { type Size, WaitingChanges } from './waiting-changes.ts'

/**
 * The limit of one transaction. Larger batches are not faster, delay their first change, and take more memory, because
 * the text is copied to the writer.
 */
export const BATCH_MAX: Size = { changes: 512, text: 2 ** 23 }

/** With a second batch in flight, the writer never waits for us. More would only make the batches smaller. */
const MAX_IN_FLIGHT = 2

export interface GroupCommitOptions<Change, Result> {
  /**
   * Makes changes in one transaction and resolves to their results. Up to `maxInFlight` calls can be in flight at once;
   * they must end in the order in which they were made.
   */
  readonly commit: (changes: readonly Change[]) => Promise<Result[]>
  /** The text that a change keeps in memory while it waits, in UTF-16 units. */
  readonly sizeOf: (change: Change) => number
  readonly maxInFlight?: number
  /** By default, no other thread shares the limit of waiting changes. */
  readonly waiting?: WaitingChanges
}

interface Waiting<Change, Result> {
  readonly change: Change
  readonly text: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: changes that arrive during a commit share the next transaction, and so one wait for the disk. A change
 * resolves after the commit that contains it.
 *
 * A batch, and all waiting changes together, are limited in number and text. The last change may exceed the text limit;
 * otherwise a very large one could never be accepted. A change counts as waiting until it has a result.
 */
export class GroupCommit<Change, Result> {
  readonly #commit: GroupCommitOptions<Change, Result>['commit']
  readonly #sizeOf: (change: Change) => number
  readonly #maxInFlight: number
  #arrived: Waiting<Change, Result>[] = []
  readonly #inFlight: Waiting<Change, Result>[][] = []
  readonly #waiting: WaitingChanges
  #settled: PromiseWithResolvers<void> | undefined

  constructor({
    commit,
    sizeOf,
    maxInFlight = MAX_IN_FLIGHT,
    waiting = new WaitingChanges(),
  }: GroupCommitOptions<Change, Result>) {
    this.#commit = commit
    this.#sizeOf = sizeOf
    this.#maxInFlight = maxInFlight
    this.#waiting = waiting
  }

  /** @throws StoreUnavailable if the store cannot commit now, or too many changes are waiting */
  submit(change: Change): Promise<Result> {
    const text = this.#sizeOf(change)
    if (!this.#waiting.add(text)) {
      return Promise.reject(new StoreUnavailable('busy', `${this.#waiting} are waiting`))
    }
    return new Promise((resolve, reject) => {
      const waiting = { change, text, resolve, reject }
      // Deferred, so that all changes of this turn of the event loop share a batch.
      if (this.#arrived.length === 0) setImmediate(() => this.#dispatch())
      this.#arrived.push(waiting)
      this.#settled ??= Promise.withResolvers()
    })
  }

  /** Resolves when no change is waiting or in flight. */
  async settle(): Promise<void> {
    await this.#settled?.promise
  }

  #dispatch(): void {
    while (this.#arrived.length > 0 && this.#inFlight.length < this.#maxInFlight) {
      this.#commitBatch()
    }
    if (this.#inFlight.length > 0) return
    this.#settled?.resolve()
    this.#settled = undefined
  }

  async #commitBatch(): Promise<void> {
    const batch = this.#take(BATCH_MAX)
    this.#inFlight.push(batch)
    try {
      const results = await this.#commit(batch.map(({ change }) => change))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      // Changes that arrived during the failed commit would only wait to fail the same way.
      const others = error instanceof StoreUnavailable ? this.#arrived.splice(0) : []
      this.#waiting.remove(others)
      for (const { reject } of [...batch, ...others]) reject(error)
    }
    this.#waiting.remove(batch)
    this.#inFlight.shift()
    this.#dispatch()
  }

  /** Removes the first changes that arrived, up to a limit. */
  #take(limit: Size): Waiting<Change, Result>[] {
    let count = 0
    let text = 0
    for (const waiting of this.#arrived) {
      if (count === limit.changes || text >= limit.text) break
      count += 1
      text += waiting.text
    }
    return this.#arrived.splice(0, count)
  }
}
