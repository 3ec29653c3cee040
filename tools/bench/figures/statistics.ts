/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which a share of the values lies, interpolated; NaN for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const position = share * (sorted.length - 1)
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position % 1)
}

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Formats a number, rounded to an integer. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}
