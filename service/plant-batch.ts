import { hasSameContent, type NewPlant } from './plant-store.ts'

/** A batch of which two plants have the same id but different content. */
export interface RepeatedId {
  readonly id: bigint
  /** The indexes of the two plants, in ascending order. */
  readonly indexes: readonly [first: number, second: number]
}

/**
 * Removes plants that repeat an earlier one of the batch.
 *
 * @returns plants with distinct ids, in the same order; or the first plant that differs from an earlier one with its id
 */
export function distinctPlants(plants: readonly NewPlant[]): readonly NewPlant[] | RepeatedId {
  const indexes = new Map<bigint, number>()
  for (const [index, plant] of plants.entries()) {
    const first = indexes.get(plant.id)
    if (first === undefined) indexes.set(plant.id, index)
    else if (!hasSameContent(plants[first] as NewPlant, plant))
      return { id: plant.id, indexes: [first, index] }
  }
  if (indexes.size === plants.length) return plants
  return Array.from(indexes.values(), (index) => plants[index] as NewPlant)
}
