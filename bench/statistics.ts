/** The middle one, of an even number the upper of the two; NaN if there are none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/** A share of 1, as people read it. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** To the next whole number, as people read it. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}
