import type { Mapping } from '../../../core/files/columns.ts'

/** A mapping with at most one column for each member. */
export function mappingOf(keys: { readonly [name: string]: string | undefined }): Mapping {
  return Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, key === undefined ? [] : [key]]),
  )
}
