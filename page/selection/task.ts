import type { Operation } from '../changes/undo-log.ts'
import type { Filter } from '../list/filter.ts'
import type { IdRanges } from './id-ranges.ts'

/** What a person wants to do with the plants of a filter whose ids are in some ranges. */
export interface PlantsTask {
  /** `rename` gives all plants with a tag another one. */
  readonly action: 'change' | 'delete' | 'rename'
  readonly filter: Filter
  readonly ranges: IdRanges
}

/** What a person wants to do with many plants. */
export type Task = PlantsTask | { readonly action: 'undo'; readonly operation: Operation }
