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

type Commit = (changes: readonly Change[]) => Promise<ChangeResult[]>

interface Waiting {
  readonly change: Change
  readonly text: number
  readonly resolve: (result: ChangeResult) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit: changes that arrive while others are on their way to the disk go together in the
 * next transaction, so many share one wait for the disk. Each resolves after the commit that it was
 * part of.
 *
 * Both what waits and what goes together is bounded by the number of changes and by their text, in
 * UTF-16 units. The last change may go beyond the bound of the text, or a large one would never get in.
 */
export class GroupCommit {
  readonly #commit: Commit
  #waiting: Waiting[] = []
  #waitingText = 0
  #flushing: Promise<void> | undefined

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /** @throws StoreUnavailable if the commit failed for a reason that passes, or too much is waiting */
  change(change: Change): Promise<ChangeResult> {
    if (this.#waiting.length >= WAITING.changes || this.#waitingText >= WAITING.text) {
      const much = `${this.#waiting.length} changes with ${this.#waitingText} characters are waiting`
      return Promise.reject(new StoreUnavailable('busy', much))
    }
    return new Promise((resolve, reject) => {
      const text = textOf(change)
      this.#waiting.push({ change, text, resolve, reject })
      this.#waitingText += text
      this.#flushing ??= this.#flush()
    })
  }

  /** Resolves when nothing is waiting. */
  async settle(): Promise<void> {
    await this.#flushing
  }

  async #flush(): Promise<void> {
    // What arrives in the same turn of the event loop belongs together.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const together = this.#take(TOGETHER)
      try {
        const results = await this.#commit(together.map(({ change }) => change))
        for (const [index, result] of results.entries()) together[index]?.resolve(result)
      } catch (error) {
        // What came meanwhile would wait in vain for what has just failed.
        const alike = error instanceof StoreUnavailable ? this.#take(WAITING) : []
        for (const { reject } of [...together, ...alike]) reject(error)
      }
    }
    this.#flushing = undefined
  }

  /** Takes from the front of what waits until a bound is reached; that of WAITING takes all. */
  #take(bound: { readonly changes: number; readonly text: number }): Waiting[] {
    let count = 0
    let text = 0
    for (const waiting of this.#waiting) {
      if (count === bound.changes || text >= bound.text) break
      count += 1
      text += waiting.text
    }
    this.#waitingText -= text
    return this.#waiting.splice(0, count)
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
