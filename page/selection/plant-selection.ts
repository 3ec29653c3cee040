import { Model } from '../model/model.ts'
import { type IdRange, IdRanges } from './id-ranges.ts'

/** The ranges whose ends stay in memory, at most. Each can need 400 plants. */
const KEPT_RANGES_MAX = 20

/**
 * The plants that a person has selected among those of one filter. Selected are all plants of the filter whose ids are in
 * the ranges, also those that are not in memory, and those that others add later.
 */
export class PlantSelection extends Model {
  /** The plants from one to another in the order of the list. Undefined if it does not know them. */
  readonly #between: (one: bigint, other: bigint) => readonly IdRange[] | undefined
  #ranges = IdRanges.NONE
  /** Where an extension starts, and the ranges before it. Undefined before an id was toggled. */
  #start: { readonly id: bigint; readonly ranges: IdRanges } | undefined
  /** Where the latest extension ends. */
  #end: bigint | undefined

  constructor(between: (one: bigint, other: bigint) => readonly IdRange[] | undefined) {
    super()
    this.#between = between
  }

  get ranges(): IdRanges {
    return this.#ranges
  }

  /** Ids near which the list must stay in memory, because it is counted there. */
  get kept(): readonly bigint[] {
    return [...this.#ranges]
      .filter(({ from, to }) => from !== to)
      .slice(0, KEPT_RANGES_MAX)
      .flatMap(({ from, to }) => [from, to])
  }

  /** Selects a plant, or deselects it. */
  toggle(id: bigint): void {
    this.#begin(this.#ranges.has(id) ? this.#ranges.remove(id, id) : this.#ranges.add(id, id), id)
    this.changed()
  }

  /**
   * Makes all plants from the last toggled one to another one as selected as the former. The next extension from there
   * replaces this one.
   */
  extend(id: bigint): void {
    const between = this.#start && this.#between(this.#start.id, id)
    if (this.#start === undefined || between === undefined) {
      this.toggle(id)
      return
    }
    const { id: start, ranges } = this.#start
    const isSelected = ranges.has(start)
    this.#ranges = between.reduce(
      (all, { from, to }) => (isSelected ? all.add(from, to) : all.remove(from, to)),
      ranges,
    )
    this.#end = id
    this.changed()
  }

  /** The same as keys do it. Unless the latest extension ends at `focused`, a new one starts there. */
  extendFrom(focused: bigint, id: bigint): void {
    if (focused !== this.#end) this.#begin(this.#ranges.add(focused, focused), focused)
    this.extend(id)
  }

  /** Selects all plants of the filter. */
  selectAll(): void {
    this.#reset(IdRanges.ALL)
  }

  clear(): void {
    this.#reset(IdRanges.NONE)
  }

  #begin(ranges: IdRanges, id: bigint): void {
    this.#ranges = ranges
    this.#start = { id, ranges }
    this.#end = id
  }

  #reset(ranges: IdRanges): void {
    this.#ranges = ranges
    this.#start = undefined
    this.#end = undefined
    this.changed()
  }
}
