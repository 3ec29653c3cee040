import type { FieldCondition } from './plant-filter.ts'

/** Whether own fields meet all conditions. */
export function toFieldMatch(
  _conditions: readonly FieldCondition[],
): (fields: string | null | undefined) => boolean {
  throw new Error('not implemented')
}
