import { StoreUnavailable } from '../../service/plant-store.ts'

/**
 * What goes into one transaction. More gains nothing more and keeps the first change waiting, and all of
 * the text is copied on its way to whoever commits it.
 */
const BATCH_SIZE = { changes: 512, text: 2 ** 23 }

/** What may wait for the disk; beyond it the service is overloaded, and says so at once. */
const WAITING = { changes: 10_000, text: 2 ** 26 }

/** With the next commit at hand whoever commits does not wait for us; more would only make them smaller. */
const MAX_IN_FLIGHT = 2

export interface GroupCommitOptions<Change, Result> {
  /**
   * Makes changes together, and resolves to their results. May be called again before a call has ended;
   * the calls have to end in their order.
   */
  readonly commit: (changes: readonly Change[]) => Promise<Result[]>
  /** How much text a change holds on to while it waits, in UTF-16 units. */
  readonly sizeOf: (change: Change) => number
  /** How many commits there are at a time. */
  readonly maxInFlight?: number
}

interface Waiting<Change, Result> {
  readonly change: Change
  readonly text: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: changes that arrive while others are on their way to the disk go together in a later
 * transaction, so many share one wait for the disk. Each resolves after the commit that it was part of.
 *
 * Both what waits and what goes together is bounded by the number of changes and by their text, in
 * UTF-16 units. The last change may go beyond the bound of the text, or a large one would never get in.
 * What was handed over behind a commit that is under way waits as well.
 */
export class GroupCommit<Change, Result> {
  readonly #commit: GroupCommitOptions<Change, Result>['commit']
  readonly #sizeOf: (change: Change) => number
  readonly #maxInFlight: number
  #arrived: Waiting<Change, Result>[] = []
  /** The first of these is on its way, the others are at hand. */
  readonly #handedOver: Waiting<Change, Result>[][] = []
  readonly #waiting = { changes: 0, text: 0 }
  #settled: PromiseWithResolvers<void> | undefined

  constructor({ commit, sizeOf, maxInFlight = MAX_IN_FLIGHT }: GroupCommitOptions<Change, Result>) {
    this.#commit = commit
    this.#sizeOf = sizeOf
    this.#maxInFlight = maxInFlight
  }

  /** @throws StoreUnavailable if the commit failed for a reason that passes, or too much is waiting */
  change(change: Change): Promise<Result> {
    const { changes, text } = this.#waiting
    if (changes >= WAITING.changes || text >= WAITING.text) {
      const much = `${changes} changes with ${text} characters are waiting`
      return Promise.reject(new StoreUnavailable('busy', much))
    }
    return new Promise((resolve, reject) => {
      const waiting = { change, text: this.#sizeOf(change), resolve, reject }
      // What arrives in the same turn of the event loop belongs together.
      if (this.#arrived.length === 0) setImmediate(() => this.#handOver())
      this.#arrived.push(waiting)
      this.#count([waiting], 1)
      this.#settled ??= Promise.withResolvers()
    })
  }

  /** Resolves when nothing is waiting. */
  async settle(): Promise<void> {
    await this.#settled?.promise
  }

  #handOver(): void {
    while (this.#arrived.length > 0 && this.#handedOver.length < this.#maxInFlight)
      this.#commitNext()
    if (this.#handedOver.length > 0) return
    this.#settled?.resolve()
    this.#settled = undefined
  }

  async #commitNext(): Promise<void> {
    const together = this.#take(BATCH_SIZE)
    this.#handedOver.push(together)
    if (together === this.#handedOver[0]) this.#count(together, -1)
    try {
      const results = await this.#commit(together.map(({ change }) => change))
      for (const [index, result] of results.entries()) together[index]?.resolve(result)
    } catch (error) {
      // What came meanwhile would wait in vain for what has just failed.
      const alike = error instanceof StoreUnavailable ? this.#take(WAITING) : []
      this.#count(alike, -1)
      for (const { reject } of [...together, ...alike]) reject(error)
    }
    this.#handedOver.shift()
    this.#count(this.#handedOver[0] ?? [], -1)
    this.#handOver()
  }

  #count(changes: readonly Waiting<Change, Result>[], sign: 1 | -1): void {
    for (const { text } of changes) {
      this.#waiting.changes += sign
      this.#waiting.text += sign * text
    }
  }

  /** Takes from the front of what has arrived until a bound is reached; that of WAITING takes all. */
  #take(bound: { readonly changes: number; readonly text: number }): Waiting<Change, Result>[] {
    let count = 0
    let text = 0
    for (const waiting of this.#arrived) {
      if (count === bound.changes || text >= bound.text) break
      count += 1
      text += waiting.text
    }
    return this.#arrived.splice(0, count)
  }
}
