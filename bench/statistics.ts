/** The middle one, of an even number the mean of the two in the middle; NaN if there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const middle = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1)
  return middle.reduce((sum, value) => sum + value, 0) / middle.length
}

/** A share of 1, as people read it. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** To the next whole number, as people read it. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}
