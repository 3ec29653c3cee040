import type { components } from '../../../contract/api.gen.ts'
import type { ChangeResult, PlantChange } from '../../../service/plant-store.ts'

type Schemas = components['schemas']

/** Converts a change of a request into one for the store. */
export function toPlantChange(change: Schemas['PlantChange']): PlantChange {
  const { id } = change
  if (change.op === 'create') {
    const { name, tag } = change
    return tag === undefined ? { type: 'create', id, name } : { type: 'create', id, name, tag }
  }
  const expected = change.ifMatch === undefined ? undefined : [change.ifMatch.slice(1, -1)]
  switch (change.op) {
    case 'replace':
      return { type: 'update', id, patch: toReplacement(change), expected }
    case 'update':
      return { type: 'update', id, patch: toPatch(change), expected }
    case 'remove':
      return { type: 'remove', id, expected }
  }
}

interface Content {
  readonly name: string
  readonly tag?: string | undefined
}

/** The patch after which a plant has exactly this content. */
export function toReplacement({ name, tag }: Content): Schemas['PlantPatch'] {
  return { name, tag: tag ?? null }
}

/** Members of a patch; undefined stands for an absent one. */
type PatchMembers = { readonly [Name in 'name' | 'tag']?: Schemas['PlantPatch'][Name] | undefined }

/** A patch without undocumented members, such as a number that is not exact, which must not reach the store. */
export function toPatch({ name, tag }: PatchMembers): Schemas['PlantPatch'] {
  return { ...(name !== undefined && { name }), ...(tag !== undefined && { tag }) }
}

/** Counts changes by their effect. */
export function countEffects(results: readonly ChangeResult[]): Schemas['ChangeCounts'] {
  const count = (...counted: ChangeResult[]) =>
    results.filter((result) => counted.includes(result)).length
  return {
    created: count('created'),
    changed: count('updated'),
    removed: count('removed'),
    unchanged: count('unchanged', 'replayed'),
  }
}

interface Item {
  readonly id: bigint
}

/** Two items of a body with the same id. */
interface Repetition {
  readonly id: bigint
  readonly first: number
  readonly second: number
}

/**
 * Finds the first item with the id of an earlier one.
 *
 * @param isAllowed whether an item can have the id of a given earlier one
 */
export function findRepetition<Each extends Item>(
  items: readonly Each[],
  isAllowed: (item: Each, earlier: Each | undefined) => boolean = () => false,
): Repetition | undefined {
  const indexes = new Map<bigint, number>()
  for (const [index, item] of items.entries()) {
    const first = indexes.get(item.id)
    if (first === undefined) indexes.set(item.id, index)
    else if (!isAllowed(item, items[first])) return { id: item.id, first, second: index }
  }
  return undefined
}
