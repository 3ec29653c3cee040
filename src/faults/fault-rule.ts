import type { Fault } from './fault.ts'

/** The part of a request that decides which faults match it. */
export interface Target {
  readonly operation: string
  readonly token: string | undefined
  readonly ids: readonly bigint[]
}

/** A fault that is in effect, and how many requests it has matched so far. */
export class FaultRule {
  readonly fault: Fault
  /** What recorded requests call it. */
  readonly name: string | number
  readonly #random: () => number
  #matches = 0

  constructor(fault: Fault, index: number) {
    this.fault = fault
    this.name = fault.name ?? index
    this.#random = mulberry32(fault.seed ?? index)
  }

  /** Counts a request if it matches, and returns whether the fault applies to it. */
  appliesTo(target: Target): boolean {
    if (!this.#matchesTarget(target)) return false
    this.#matches++
    const matches = this.#matches
    const { nth = matches, every = 1, first = matches, probability = 1 } = this.fault
    return (
      matches === nth && matches % every === 0 && matches <= first && this.#random() < probability
    )
  }

  #matchesTarget({ operation, token, ids }: Target): boolean {
    const { fault } = this
    return (
      (fault.operation === undefined || fault.operation === operation) &&
      (fault.token === undefined || fault.token === token) &&
      (fault.id === undefined || ids.includes(fault.id))
    )
  }
}

/** The generator mulberry32: numbers from 0 to below 1 that only depend on the seed. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
