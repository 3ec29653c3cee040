import type { Plant } from '../../client/client.ts'
import { textLength } from './current-members.ts'

/** How much plants can take at once, in characters: half of what a tab can use on a phone. */
export const MEMORY_MAX = 2 ** 26

/** What a plant takes in addition to its text. */
const OVERHEAD = 100

/** What a plant takes in memory, in characters. */
export function memoryOf(plant: Plant): number {
  return OVERHEAD + textLength(plant)
}
