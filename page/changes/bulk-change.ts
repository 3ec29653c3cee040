import type { Intent } from './delivery.ts'

/** A change of many plants. */
export interface BulkChange {
  /** What it does, such as `Set tag to “Tree”`. */
  readonly title: string
  /** One for each plant that is to change. */
  readonly intents: readonly Intent[]
}
