import type { PlantFilter } from '../../../../service/store/plant-filter.ts'

/** Something for each way to select plants by tag. */
export interface ByTag<Value> {
  /** For all plants. */
  readonly any: Value
  /** For plants with one tag. */
  readonly one: Value
  /** For plants without a tag. */
  readonly none: Value
}

export function forTag<Value>(tag: PlantFilter['tag'], { any, one, none }: ByTag<Value>): Value {
  if (tag === undefined) return any
  return tag === null ? none : one
}

/** The tag as a list of parameters, which only a statement for one tag has. */
export function tagsOf(tag: PlantFilter['tag']): string[] {
  return typeof tag === 'string' ? [tag] : []
}

export function mapByTag<Value, Mapped>(
  { any, one, none }: ByTag<Value>,
  map: (value: Value) => Mapped,
): ByTag<Mapped> {
  return { any: map(any), one: map(one), none: map(none) }
}
