import { posix } from 'node:path'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { Mutant } from './mutant.ts'

/** Groups mutants by folder, in alphabetical order. */
export function groupByFolder<Item extends Pick<Mutant, 'file'>>(
  mutants: readonly Item[],
): Map<string, Item[]> {
  const groups = Map.groupBy(mutants, ({ file }) => posix.dirname(file))
  return new Map([...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * Draws mutants at random, from each folder in proportion to its number of mutants, but at least one if possible.
 *
 * @param seed the same seed draws the same mutants from the same sources
 * @returns `size` mutants, or all if there are fewer
 */
export function sample<Item extends Pick<Mutant, 'file'>>(
  mutants: readonly Item[],
  size: number,
  seed: number,
): Item[] {
  if (size >= mutants.length) return [...mutants]
  const folders = [...groupByFolder(mutants).values()]
  const shares = apportion(
    folders.map(({ length }) => length),
    size,
  )
  const generator = xoroshiro128plus(seed)
  return folders.flatMap((folder, index) => {
    const remaining = [...folder]
    return Array.from({ length: shares[index] ?? 0 }, () => {
      const [drawn] = remaining.splice(uniformInt(generator, 0, remaining.length - 1), 1)
      return drawn as Item
    })
  })
}

/** Divides `size` in proportion to the weights, by the largest remainder method. */
function apportion(weights: readonly number[], size: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const atLeast = size >= weights.length ? 1 : 0
  const exact = weights.map((weight) => (weight * size) / total)
  const shares = exact.map((share) => Math.max(atLeast, Math.floor(share)))
  let left = size - shares.reduce((sum, share) => sum + share, 0)
  const byRemainder = exact
    .map((share, index) => ({ index, remainder: share - Math.floor(share) }))
    .toSorted((one, other) => other.remainder - one.remainder)
  for (const { index } of byRemainder) {
    if (left <= 0) break
    if ((exact[index] as number) < atLeast) continue
    shares[index] = (shares[index] as number) + 1
    left--
  }
  // Small folders got more than their proportion, so the largest ones get less.
  for (; left < 0; left++) {
    const largest = shares.indexOf(Math.max(...shares))
    shares[largest] = (shares[largest] as number) - 1
  }
  return shares
}
