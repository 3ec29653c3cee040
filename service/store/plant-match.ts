import { isHybrid, toWordMatch } from '../../core/members/words.ts'
import { toFieldMatch } from './field-match.ts'
import type { PlantFilter } from './plant-filter.ts'

/** Whether a plant has the words and meets the conditions of a filter. Does not look at its tag. */
export function toMatch({
  words = [],
  conditions = [],
}: PlantFilter): (name: string, fields: string | null | undefined) => boolean {
  const hasWords = toWordMatch(words)
  if (conditions.length === 0) return hasWords
  const hasFields = toFieldMatch(conditions)
  return (name, fields) => hasWords(name) && hasFields(fields)
}

/** What a database can tell of a name faster than `toMatch`. */
export interface NameTest {
  /** If a name has only ASCII characters and a plant matches, `lower(name)` contains each of these. */
  readonly parts: readonly string[]
  /** Whether a plant matches if `lower(name)` contains all parts. */
  readonly isEnough: boolean
}

export function toNameTest({ words = [], conditions = [] }: PlantFilter): NameTest {
  return {
    parts: words.map((word) => (isHybrid(word) ? word.slice(1) : word)),
    isEnough: conditions.length === 0 && !words.some(isHybrid),
  }
}

/** The longest part, which the fewest names contain; '' if there are none. */
export function longestOf(parts: readonly string[]): string {
  return parts.toSorted((one, other) => other.length - one.length)[0] ?? ''
}
