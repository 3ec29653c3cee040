import type { Change } from '../../service/change-feed.ts'
import { textLength } from '../../service/plant-content.ts'

/** The size of some changes. `text` is in UTF-16 units. */
export interface TransactionSize {
  readonly changes: number
  readonly text: number
}

/** The changes that a mirror has read and not applied, because their transaction can continue. */
export class PendingChanges {
  /** The changes up to this cursor have been applied. */
  #applied: string
  #changes: Change[] = []
  #text = 0
  /** How many of the changes are in transactions that have ended. */
  #ended = 0
  #end: string | undefined

  /**
   * @param applied the cursor after which the changes begin
   * @param end the `consistentAt` of a mirror
   */
  constructor(applied: string, end: string | undefined) {
    this.#applied = applied
    this.#end = end
  }

  get applied(): string {
    return this.#applied
  }

  /** The cursor after the last change. */
  get cursor(): string {
    return this.#changes.at(-1)?.cursor ?? this.#applied
  }

  /**
   * A later cursor at which the feed of the source ended at some time, and so did a transaction. The feed of an earlier
   * version has no other ends.
   */
  get end(): string | undefined {
    return this.#end
  }

  /** Takes note that the feed ends, or has ended, at a cursor: that of the last change or a later one. */
  noteEnd(cursor: string): void {
    this.#end = cursor
    if (cursor === this.cursor) this.#noteEnded()
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0
  }

  get hasEnded(): boolean {
    return this.#ended > 0
  }

  /** Whether the changes exceed a size. */
  exceeds({ changes, text }: TransactionSize): boolean {
    return this.#changes.length > changes || this.#text > text
  }

  /** Adds the changes that follow. */
  add(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change)
      if (change.plant !== undefined) this.#text += textLength(change.plant)
      if (change.endsTransaction === true || change.cursor === this.#end) this.#noteEnded()
    }
  }

  /** Removes the changes of all transactions that have ended. */
  takeEnded(): Change[] {
    return this.#take(this.#ended)
  }

  /** Removes all changes. */
  takeAll(): Change[] {
    return this.#take(this.#changes.length)
  }

  #noteEnded(): void {
    this.#ended = this.#changes.length
    if (this.cursor === this.#end) this.#end = undefined
  }

  #take(count: number): Change[] {
    const taken = this.#changes.splice(0, count)
    this.#applied = taken.at(-1)?.cursor ?? this.#applied
    this.#ended = 0
    this.#text = this.#changes.reduce((sum, { plant }) => sum + (plant ? textLength(plant) : 0), 0)
    return taken
  }
}
