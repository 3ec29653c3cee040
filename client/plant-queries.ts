import type { operations } from '../core/generated/api.gen.ts'
import type { Plant } from './plants.ts'
import type { FieldCondition, FieldFilter, PlantQuery } from './types.ts'

/** The query parameters of a list of plants, perhaps with those for own fields, such as `min.height`. */
export type PlantParameters = NonNullable<operations['listPlants']['parameters']['query']>

/** Whether a list of ids or values is empty. It would not be sent, which would select all plants. */
export function selectsNone<P extends Plant>(query: PlantQuery<P>): boolean {
  const lists = conditionsOf(query.filter).map(
    ([, condition]) => condition !== 'absent' && condition.is,
  )
  return [query.id, ...lists].some((list) => list && list.length === 0)
}

export function plantParameters<P extends Plant>(query: PlantQuery<P>): PlantParameters {
  const { filter, ...parameters } = query
  const own = conditionsOf(filter).flatMap(([name, condition]) =>
    Object.entries(condition === 'absent' ? { without: true } : condition).map(
      ([kind, value]) => [`${kind}.${name}`, value] as const,
    ),
  )
  // The contract of this package has no property by which an operator lets plants be sorted.
  return { ...parameters, ...Object.fromEntries(own) } as PlantParameters
}

/** The conditions that are neither undefined nor null. */
function conditionsOf<P extends Plant>(
  filter: FieldFilter<P> | undefined = {},
): [name: string, condition: FieldCondition<unknown>][] {
  return Object.entries<FieldCondition<unknown> | undefined>(filter).flatMap(([name, condition]) =>
    condition ? [[name, condition]] : [],
  )
}
