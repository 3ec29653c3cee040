import { type PlantPatch, StoreUnavailable } from '../../../service/plant-store.ts'
import type { Change, ChangeResult } from './writer.ts'

/**
 * What goes into one transaction. More gains nothing more and keeps the first change waiting, and all of
 * the text is copied for the writer's thread.
 */
const TOGETHER = { changes: 512, text: 2 ** 23 }

/** What may wait for the disk; beyond it the service is overloaded, and says so at once. */
const WAITING = { changes: 10_000, text: 2 ** 26 }

/** What a string takes beside its text, in UTF-16 units; a header may hold thousands of short ones. */
const OF_A_STRING = 16

/** With the next commit at hand the writer does not wait for us; more would only make them smaller. */
const HANDED_OVER = 2

type Commit = (changes: readonly Change[]) => Promise<ChangeResult[]>

interface Waiting {
  readonly change: Change
  readonly text: number
  readonly resolve: (result: ChangeResult) => void
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
export class GroupCommit {
  readonly #commit: Commit
  readonly #most: number
  #arrived: Waiting[] = []
  /** The first of these is on its way, the others are at hand. */
  readonly #handedOver: Waiting[][] = []
  readonly #waiting = { changes: 0, text: 0 }
  #settled: PromiseWithResolvers<void> | undefined

  /**
   * @param commit may be called again before a call has ended; the calls have to end in their order
   * @param most how many such calls there are at a time
   */
  constructor(commit: Commit, most = HANDED_OVER) {
    this.#commit = commit
    this.#most = most
  }

  /** @throws StoreUnavailable if the commit failed for a reason that passes, or too much is waiting */
  change(change: Change): Promise<ChangeResult> {
    const { changes, text } = this.#waiting
    if (changes >= WAITING.changes || text >= WAITING.text) {
      const much = `${changes} changes with ${text} characters are waiting`
      return Promise.reject(new StoreUnavailable('busy', much))
    }
    return new Promise((resolve, reject) => {
      const waiting = { change, text: textOf(change), resolve, reject }
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
    while (this.#arrived.length > 0 && this.#handedOver.length < this.#most) this.#commitNext()
    if (this.#handedOver.length > 0) return
    this.#settled?.resolve()
    this.#settled = undefined
  }

  async #commitNext(): Promise<void> {
    const together = this.#take(TOGETHER)
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

  #count(changes: readonly Waiting[], sign: 1 | -1): void {
    for (const { text } of changes) {
      this.#waiting.changes += sign
      this.#waiting.text += sign * text
    }
  }

  /** Takes from the front of what has arrived until a bound is reached; that of WAITING takes all. */
  #take(bound: { readonly changes: number; readonly text: number }): Waiting[] {
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

/** How much text a change holds on to while it waits. */
function textOf(change: Change): number {
  switch (change[0]) {
    case 'create':
      return lengthOf(change[1])
    case 'update':
      return lengthOf(change[2]) + lengthOfAll(change[3])
    case 'remove':
      return lengthOfAll(change[2])
    case 'importPlants':
      return change[1].reduce((sum, plant) => sum + lengthOf(plant), 0)
    default:
      return 0
  }
}

function lengthOf({ name, tag }: PlantPatch): number {
  return (name?.length ?? 0) + (tag?.length ?? 0)
}

function lengthOfAll(versions: readonly string[] = []): number {
  return versions.reduce((sum, { length }) => sum + length + OF_A_STRING, 0)
}
