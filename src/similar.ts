/** Longer words are not compared: they are not typing errors, and the cost grows with the square of the length. */
const LENGTH_MAX = 40

/** The share of a word that can differ. */
const DIFFERENCE_MAX = 0.4

/** Finds the candidate that was probably meant. Ignores case and surrounding whitespace. */
export function findSimilar<Word extends string>(
  word: string,
  candidates: readonly Word[],
): Word | undefined {
  if (word.length > LENGTH_MAX) return undefined
  let best: Word | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = editDistance(word.trim().toLowerCase(), candidate.toLowerCase())
    const isSimilar = distance <= DIFFERENCE_MAX * Math.max(word.length, candidate.length)
    if (isSimilar && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/**
 * The number of characters to insert, delete, replace or swap with their neighbor (the optimal string alignment
 * distance).
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1]
      const replaced = Number(last[column - 1]) + (isSame ? 0 : 1)
      const shifted = Math.min(Number(last[column]), Number(current[column - 1])) + 1
      const isSwapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwapped ? Number(beforeLast[column - 2]) + 1 : replaced
      current.push(Math.min(replaced, shifted, swapped))
    }
    beforeLast = last
    last = current
  }
  return Number(last[b.length])
}
