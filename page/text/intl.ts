const NUMBER = new Intl.NumberFormat('en')

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A number with a noun, such as `1 plant` and `32,800 plants`. */
export function formatCount(number: number, noun: string): string {
  return `${NUMBER.format(number)} ${noun}${number === 1 ? '' : 's'}`
}

export function formatNumber(number: number): string {
  return NUMBER.format(number)
}

/**
 * A date or a time as people in the browser's locale write it, a time in the browser's time zone. Undefined for other
 * formats, and for text that is neither.
 *
 * @param format that of JSON Schema
 */
export function describeDate(text: string, format: string): string | undefined {
  const formatter = { date: DATE, 'date-time': TIME }[format]
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? undefined : formatter?.format(date)
}
