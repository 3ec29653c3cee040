/** The median; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const middle = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1)
  return middle.reduce((sum, value) => sum + value, 0) / middle.length
}

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Formats a number, rounded to an integer. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en')
}

/** Formats a ratio. Returns an empty string for NaN. */
export function formatRatio(ratio: number): string {
  return Number.isNaN(ratio) ? '' : ratio.toFixed(2)
}
