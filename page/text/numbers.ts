const FORMAT = new Intl.NumberFormat('en')

/** A number with a noun, such as `1 plant` and `32,800 plants`. */
export function formatCount(number: number, noun: string): string {
  return `${FORMAT.format(number)} ${noun}${number === 1 ? '' : 's'}`
}

export function formatNumber(number: number): string {
  return FORMAT.format(number)
}
