import type { Change } from '../../service/store/change-feed.ts'
import { textLength } from '../../service/store/plant-content.ts'

/** The size of some changes. `text` is in UTF-16 units. */
export interface TransactionSize {
  readonly changes: number
  readonly text: number
}

/** The changes that a mirror has read, but not applied yet. */
export class PendingChanges {
  /** The changes up to this cursor have been applied. */
  #applied: string
  #changes: Change[] = []
  #text = 0
  /** How many changes there are up to the end of each transaction. */
  #ends: number[] = []
  #goal: string | undefined
  /** How many changes there are up to a goal that was reached. */
  #reached: number | undefined

  /** @param goal see the property */
  constructor(applied: string, goal: string | undefined) {
    this.#applied = applied
    this.#goal = goal
  }

  get applied(): string {
    return this.#applied
  }

  /** The cursor after the last change. */
  get cursor(): string {
    return this.#changes.at(-1)?.cursor ?? this.#applied
  }

  /**
   * A later cursor at which the source's feed once ended, so a transaction ends there too. The feed of an earlier version
   * shows no other ends.
   */
  get goal(): string | undefined {
    return this.#goal
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0
  }

  /** Whether a transaction has ended. */
  get hasEnd(): boolean {
    return this.#ends.length > 0
  }

  /** Whether all changes up to the goal were taken. */
  get isAtGoal(): boolean {
    return this.#goal === undefined && this.#reached === undefined
  }

  /** Whether the changes exceed a size. */
  exceeds({ changes, text }: TransactionSize): boolean {
    return this.#changes.length > changes || this.#text > text
  }

  /** Adds the changes that follow. */
  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change)
      this.#text += textOf(change)
      if (change.cursor === this.#goal) this.#reach()
      else if (change.endsTransaction === true) this.#ends.push(this.#changes.length)
    }
  }

  /** Takes note that the feed ends, or has ended, at a cursor: that of the last change or a later one. */
  noteEnd(cursor: string): void {
    this.#goal = cursor
    if (cursor === this.cursor) this.#reach()
  }

  /** Removes whole transactions: as many as have no more changes than the limit, but at least one that has ended. */
  takeEnded(limit: number): Change[] {
    return this.#take(this.#ends.findLast((end) => end <= limit) ?? this.#ends[0] ?? 0)
  }

  /** Removes changes up to the limit, or up to the goal. */
  takePart(limit: number): Change[] {
    return this.#take(Math.min(limit, this.#reached ?? this.#changes.length))
  }

  #reach(): void {
    this.#goal = undefined
    const { length } = this.#changes
    if (length === 0) return
    this.#reached = length
    this.#ends.push(length)
  }

  #take(count: number): Change[] {
    const taken = this.#changes.splice(0, count)
    this.#applied = taken.at(-1)?.cursor ?? this.#applied
    this.#text -= taken.reduce((sum, change) => sum + textOf(change), 0)
    this.#ends = this.#ends.filter((end) => end > count).map((end) => end - count)
    const reached = (this.#reached ?? 0) - count
    this.#reached = reached > 0 ? reached : undefined
    return taken
  }
}

function textOf({ plant }: Change): number {
  return plant === undefined ? 0 : textLength(plant)
}
