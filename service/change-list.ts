import type { components } from '../core/generated/api.gen.ts'
import { known } from '../core/known.ts'
import { versionOf } from '../core/members/plant-version.ts'
import type { PlantCodec } from './plant-codec.ts'
import { type ChangeResult, isRefusal, type PlantChange } from './store/plant-store.ts'

type Schemas = components['schemas']

/** Converts a change of a request into one for the store. */
export function toPlantChange(codec: PlantCodec, change: Schemas['PlantChange']): PlantChange {
  if (change.op === 'create') return { ...codec.toPlant(change), type: 'create' }
  const { id, ifMatch, ifContent } = change
  const expected = ifContent
    ? codec.toPlant({ ...ifContent, id })
    : ifMatch === undefined
      ? undefined
      : [versionOf(ifMatch)]
  switch (change.op) {
    case 'replace':
      return { ...codec.toPlant(change), type: 'replace', expected }
    case 'update':
      return { type: 'update', id, patch: codec.toPatch(change), expected }
    case 'remove':
      return { type: 'remove', id, expected }
  }
}

/** Whether a change expects both a version and content, which the contract forbids only in words. */
export function hasTwoConditions(change: Schemas['PlantChange']): boolean {
  return change.op !== 'create' && change.ifMatch !== undefined && change.ifContent !== undefined
}

/** Counts the results of changes that were not refused. */
export function countResults(results: readonly ChangeResult[]): Schemas['ChangeCounts'] {
  const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  for (const result of results) if (!isRefusal(result)) counts[result] += 1
  return counts
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
  isAllowed: (item: Each, earlier: Each) => boolean = () => false,
): Repetition | undefined {
  const indexes = new Map<bigint, number>()
  for (const [index, item] of items.entries()) {
    const first = indexes.get(item.id)
    if (first === undefined) indexes.set(item.id, index)
    else if (!isAllowed(item, known(items[first]))) return { id: item.id, first, second: index }
  }
  return undefined
}
