import type { PlantPatch } from '../../../service/plant-store.ts'
import type { Change } from './writer.ts'

/** What a string takes beside its text, in UTF-16 units; a header may hold thousands of short ones. */
const OF_A_STRING = 16

/** How much text a change holds on to while it waits, in UTF-16 units. */
export function sizeOf(change: Change): number {
  switch (change[0]) {
    case 'create':
      return lengthOf(change[1])
    case 'update':
      return lengthOf(change[2]) + lengthOfAll(change[3])
    case 'remove':
      return lengthOfAll(change[2])
    case 'importPlants':
      return change[1].reduce((sum, plant) => sum + lengthOf(plant), 0)
    default:
      return 0
  }
}

function lengthOf({ name, tag }: PlantPatch): number {
  return (name?.length ?? 0) + (tag?.length ?? 0)
}

function lengthOfAll(versions: readonly string[] = []): number {
  return versions.reduce((sum, { length }) => sum + length + OF_A_STRING, 0)
}
