import { StoreUnavailable } from '../../../service/plant-store.ts'

/**
 * Has changes of one plant made in the order in which they were asked for, which several connections
 * would not keep. Changes of different plants do not wait for each other, but that one which is no create
 * waits for the creates before it: to know which they are would cost each of them more.
 */
export class Turns {
  /** Ends when all creates that did not have to wait have ended, as they end in their order. */
  #creates: Promise<unknown> = Promise.resolve()
  /** The end of the last change of a plant that the next one has to wait for; to its error, if it failed. */
  readonly #last = new Map<bigint, Promise<unknown>>()

  /** @param create is done at once, and behind those before it, unless another change of the plant is under way */
  create<Result>(id: bigint, create: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(id)
    if (before !== undefined) return this.#follow([before], [id], create)
    const result = create()
    this.#creates = result.catch(() => {})
    return result
  }

  /** Any other change of these plants. */
  change<Result>(ids: readonly bigint[], change: () => Promise<Result>): Promise<Result> {
    const before = ids.map((id) => this.#last.get(id)).filter((last) => last !== undefined)
    return this.#follow([this.#creates, ...before], ids, change)
  }

  /** Resolves when all changes that were asked for have ended. */
  async settle(): Promise<void> {
    await Promise.all([this.#creates, ...this.#last.values()])
  }

  #follow<Result>(
    before: readonly Promise<unknown>[],
    ids: readonly bigint[],
    change: () => Promise<Result>,
  ): Promise<Result> {
    const result = Promise.all(before).then((ends) => {
      // Each in its turn would wait as long for what has just failed.
      const failure = ends.find((end) => end instanceof StoreUnavailable)
      if (failure !== undefined) throw failure
      return change()
    })
    const end = result
      .catch((error: unknown) => error)
      .finally(() => {
        for (const id of ids) if (this.#last.get(id) === end) this.#last.delete(id)
      })
    for (const id of ids) this.#last.set(id, end)
    return result
  }
}
