import type { Filter } from '../list/filter.ts'
import type { IdRanges } from './id-ranges.ts'

/** What a person wants to do, and with which plants: those of a filter whose ids are in some ranges. */
export interface Task {
  /** `rename` gives all plants with a tag another one. */
  readonly action: 'change' | 'delete' | 'rename'
  readonly filter: Filter
  readonly ranges: IdRanges
}
