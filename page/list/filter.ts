import type { Plant } from '../../client/client.ts'
import { parseId } from './plant-id.ts'

/** Selects plants as the service does. An empty tag is a tag. */
export interface Filter {
  readonly tag?: string
  readonly q?: string
}

/** Which plants the table shows. */
export interface Selection {
  readonly filter: Filter
  /** The table begins with this id, or the next one. Undefined for the first plant of all. */
  readonly first?: bigint
}

/** Whether the filter selects a plant: those with exactly the tag, whose name contains `q` in either case of ASCII. */
export function matches({ name, tag }: Plant, filter: Filter): boolean {
  if (filter.tag !== undefined && filter.tag !== tag) return false
  return filter.q === undefined || lowerAscii(name).includes(lowerAscii(filter.q))
}

/** Unlike `toLowerCase`, leaves `É` as it is. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/**
 * A selection as the fragment of the page's URL, so that it survives a reload and can be bookmarked. Browsers do not send
 * fragments, so no log contains it.
 */
export function toFragment({ filter: { tag, q }, first }: Selection): string {
  const fragment = new URLSearchParams({
    ...(q !== undefined && { q }),
    ...(tag !== undefined && { tag }),
    ...(first !== undefined && { from: String(first) }),
  })
  return `#${fragment}`
}

/** Ignores whatever is not part of a selection. */
export function parseFragment(fragment: string): Selection {
  const parameters = new URLSearchParams(fragment.slice(1))
  const tag = parameters.get('tag')
  const q = parameters.get('q')
  const first = parseId(parameters.get('from') ?? '')
  return {
    filter: { ...(tag !== null && { tag }), ...(q && { q }) },
    ...(first !== undefined && { first }),
  }
}
