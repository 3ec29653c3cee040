/** Which plants a search or a count selects. */
import type { Member } from '../../core/members/members.ts'
import type { ValueCondition } from '../../core/members/value-condition.ts'

export interface PlantFilter {
  /** Select only plants whose name contains each of these, as `toWords` returns them. Any name by default. */
  readonly words?: readonly string[] | undefined
  /** Select only plants with exactly this tag. Null selects only plants without a tag. */
  readonly tag?: string | null | undefined
  /** What the own fields must be, at most one condition for each field. None by default. */
  readonly conditions?: readonly FieldCondition[] | undefined
}

/** Whether a filter selects by names or own fields, which must be read. */
export function readsText({ words = [], conditions = [] }: PlantFilter): boolean {
  return words.length + conditions.length > 0
}

/**
 * What an own field must be. Numbers and dates are compared by their values, a `date-time` by its instant, and other
 * text by its code points. A plant without a value meets only `isAbsent`, with which nothing else can be combined.
 */
export interface FieldCondition extends ValueCondition {
  readonly field: Member
}
