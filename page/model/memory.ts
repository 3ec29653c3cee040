import { textLength } from './current-members.ts'

/** How much plants can take at once, in characters: half of what a tab can use on a phone. */
export const MEMORY_MAX = 2 ** 26

/** What a plant takes in addition to its text. */
export const OVERHEAD = 100

/** What a plant takes in memory, in characters. */
export function memoryOf(plant: Parameters<typeof textLength>[0]): number {
  return OVERHEAD + textLength(plant)
}
