import type { Plant } from '../../client/client.ts'
import type { FieldFilter as FieldParameter } from '../../core/contract/field-parameters.ts'
import { toWordMatch, toWords } from '../../core/members/words.ts'
import {
  addCondition,
  type Condition,
  conditionsOf,
  type FieldFilter,
  meetsConditions,
  parseConditions,
  removeCondition,
  toParameters,
} from './field-filter.ts'
import { parseId } from './plant-id.ts'

/** Selects plants as the service does. An empty tag is a tag. There is no `tag` with `untagged`. */
export interface Filter {
  readonly tag?: string
  /** Selects plants without a tag. */
  readonly untagged?: true
  readonly q?: string
  /** At least one condition. */
  readonly filter?: FieldFilter
}

/** A filter without members that are undefined, spaces around the text, and a `q` without words. */
export function createFilter({
  tag,
  untagged,
  q,
  filter,
}: {
  readonly [Name in keyof Filter]?: Filter[Name] | undefined
}): Filter {
  const text = q?.trim()
  return {
    ...(untagged ? { untagged } : tag !== undefined && { tag }),
    ...(text && toWords(text).length > 0 && { q: text }),
    ...(filter && { filter }),
  }
}

/** Whether a filter selects all plants. */
export function isEmpty({ tag, untagged, q, filter }: Filter): boolean {
  return (tag ?? untagged ?? q ?? filter) === undefined
}

/** Whether a page of the service can contain few plants although many follow. */
export function isSearch({ untagged, q, filter }: Filter): boolean {
  return (untagged ?? q ?? filter) !== undefined
}

/** What a filter requires of the tag and of own fields. */
export function conditionsIn({ tag, untagged, filter }: Filter): readonly Condition[] {
  const tagged: readonly Condition[] =
    tag === undefined ? [] : [{ kind: 'is', name: 'tag', values: [tag] }]
  const without: Condition = { kind: 'without', name: 'tag', values: ['true'] }
  return [...(untagged ? [without] : tagged), ...conditionsOf(filter)]
}

/** Adds a condition to those that can be combined with it. */
export function withCondition(filter: Filter, condition: FieldParameter, text: string): Filter {
  const { kind, name } = condition
  if (name !== 'tag') return { ...filter, filter: addCondition(filter.filter, condition, text) }
  const { tag: _, untagged: __, ...others } = filter
  return kind === 'without' ? { ...others, untagged: true } : { ...others, tag: text }
}

export function withoutCondition(filter: Filter, condition: FieldParameter): Filter {
  if (condition.name !== 'tag') {
    return createFilter({ ...filter, filter: removeCondition(filter.filter, condition) })
  }
  return createFilter({ ...filter, tag: undefined, untagged: undefined })
}

/** Which plants the table shows. */
export interface ListQuery {
  readonly filter: Filter
  /** The parameter `sort` of the service. Undefined for the order by id. */
  readonly sort?: string
  /** In the order by id, the table begins with this id, or the next one. Undefined for the first plant of all. */
  readonly first?: bigint
}

/** The plants of another filter, in the same order. */
export function withFilter({ sort }: ListQuery, filter: Filter): ListQuery {
  return { filter, ...(sort !== undefined && { sort }) }
}

/** Whether the filter selects a plant: those with exactly the tag, whose name contains the words of `q`. */
export function matches(plant: Plant, filter: Filter): boolean {
  const { name, tag } = plant
  if (filter.untagged && tag !== undefined) return false
  if (filter.tag !== undefined && filter.tag !== tag) return false
  return toWordMatch(wordsOf(filter))(name) && meetsConditions(plant, filter.filter)
}

/** The words that names must contain. */
export function wordsOf({ q = '' }: Filter): readonly string[] {
  return toWords(q)
}

/** Whether two queries differ only in the text that a person searches for. */
export function isSameSearch(a: ListQuery, b: ListQuery): boolean {
  if (a.filter.q === undefined || b.filter.q === undefined) return false
  return toFragment({ ...a, filter: { ...a.filter, q: b.filter.q } }) === toFragment(b)
}

/**
 * A query as the fragment of the page's URL, so that it survives a reload and can be bookmarked. Browsers do not send
 * fragments, so no log contains it.
 */
export function toFragment({ filter, sort, first }: ListQuery): string {
  const { tag, untagged, q } = filter
  const fragment = new URLSearchParams({
    ...(q !== undefined && { q }),
    ...(tag !== undefined && { tag }),
    ...(untagged && { untagged: 'true' }),
    ...(sort !== undefined && { sort }),
    ...(first !== undefined && { from: String(first) }),
  })
  for (const parameter of conditionsOf(filter.filter).flatMap(toParameters)) {
    fragment.append(...parameter)
  }
  return `#${fragment}`
}

/**
 * Ignores whatever is not part of a query. The service refuses an unknown order or field, or a string that is not a
 * value, with a message that names it.
 */
export function parseFragment(fragment: string): ListQuery {
  const parameters = new URLSearchParams(fragment.slice(1))
  const tag = parameters.get('tag') ?? undefined
  const untagged = parameters.get('untagged') === 'true' || undefined
  const q = parameters.get('q') ?? undefined
  const filter = createFilter({ tag, untagged, q, filter: parseConditions(parameters) })
  const sort = parameters.get('sort') ?? 'id'
  if (sort !== 'id') return { filter, sort }
  const first = parseId(parameters.get('from') ?? '')
  return { filter, ...(first !== undefined && { first }) }
}
