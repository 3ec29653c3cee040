import type { Plant } from '../../client/client.ts'
import { toWordMatch, toWords } from '../../core/members/words.ts'
import { parseId } from './plant-id.ts'

/** Selects plants as the service does. An empty tag is a tag. There is no `tag` with `untagged`. */
export interface Filter {
  readonly tag?: string
  /** Selects plants without a tag. */
  readonly untagged?: true
  readonly q?: string
}

/** A filter without members that are undefined, without spaces around the text, and without a text that has no words. */
export function createFilter({
  tag,
  untagged,
  q,
}: {
  readonly [Name in keyof Filter]: Filter[Name] | undefined
}): Filter {
  const text = q?.trim()
  return {
    ...(untagged ? { untagged } : tag !== undefined && { tag }),
    ...(text && toWords(text).length > 0 && { q: text }),
  }
}

/** Whether a filter selects all plants. */
export function isEmpty({ tag, untagged, q }: Filter): boolean {
  return tag === undefined && !untagged && q === undefined
}

/** Whether a page of the service can contain few plants although many follow. */
export function isSearch({ untagged, q }: Filter): boolean {
  return untagged === true || q !== undefined
}

/** Which plants the table shows. */
export interface Selection {
  readonly filter: Filter
  /** The table begins with this id, or the next one. Undefined for the first plant of all. */
  readonly first?: bigint
}

/** Whether the filter selects a plant: those with exactly the tag, whose name contains the words of `q`. */
export function matches({ name, tag }: Plant, filter: Filter): boolean {
  if (filter.untagged && tag !== undefined) return false
  if (filter.tag !== undefined && filter.tag !== tag) return false
  return toWordMatch(wordsOf(filter))(name)
}

/** The words that names must contain. */
export function wordsOf({ q = '' }: Filter): readonly string[] {
  return toWords(q)
}

/** Whether two selections differ only in the text that a person searches for. */
export function isSameSearch(a: Selection, b: Selection): boolean {
  if (a.filter.q === undefined || b.filter.q === undefined) return false
  return toFragment({ filter: { ...a.filter, q: b.filter.q } }) === toFragment(b)
}

/**
 * A selection as the fragment of the page's URL, so that it survives a reload and can be bookmarked. Browsers do not send
 * fragments, so no log contains it.
 */
export function toFragment({ filter: { tag, untagged, q }, first }: Selection): string {
  const fragment = new URLSearchParams({
    ...(q !== undefined && { q }),
    ...(tag !== undefined && { tag }),
    ...(untagged && { untagged: 'true' }),
    ...(first !== undefined && { from: String(first) }),
  })
  return `#${fragment}`
}

/** Ignores whatever is not part of a selection. */
export function parseFragment(fragment: string): Selection {
  const parameters = new URLSearchParams(fragment.slice(1))
  const tag = parameters.get('tag') ?? undefined
  const untagged = parameters.get('untagged') === 'true' || undefined
  const q = parameters.get('q') ?? undefined
  const first = parseId(parameters.get('from') ?? '')
  return {
    filter: createFilter({ tag, untagged, q }),
    ...(first !== undefined && { first }),
  }
}
