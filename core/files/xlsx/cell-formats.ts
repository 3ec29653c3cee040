/** How a number in a cell is shown, as far as it changes what the number means. */
export type CellFormat = 'number' | 'date' | 'time' | 'date-time'

/** ECMA-376 part 1 §18.8.30, including the formats of East Asian languages. */
const BUILT_IN: readonly (readonly [first: number, last: number, format: CellFormat])[] = [
  [14, 17, 'date'],
  [18, 21, 'time'],
  [22, 22, 'date-time'],
  [27, 31, 'date'],
  [32, 35, 'time'],
  [36, 36, 'date'],
  [45, 45, 'time'],
  [47, 47, 'time'],
  [50, 58, 'date'],
]

const CODE_LENGTH_MAX = 255

/** @param code that of a format that is not built in */
export function cellFormat(id: number, code: string | undefined): CellFormat {
  if (code === undefined) {
    return BUILT_IN.find(([first, last]) => first <= id && id <= last)?.[2] ?? 'number'
  }
  // A duration.
  if (/\[(?:h+|m+|s+)\]/i.test(code)) return 'number'
  const [letters = ''] = code
    .slice(0, CODE_LENGTH_MAX)
    .replace(/"[^"]*"|\\.|[_*].|\[[^\]]*\]|AM\/PM|A\/P/gi, '')
    .toLowerCase()
    .split(';')
  const hasTime = /[hs]/.test(letters)
  const hasDate = /[dy]/.test(letters) || (letters.includes('m') && !hasTime)
  if (hasDate) return hasTime ? 'date-time' : 'date'
  return hasTime ? 'time' : 'number'
}

const DAY_MS = 86_400_000

/** Day 0 in most workbooks, for days after a 29 February 1900 that Excel assumes. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const ASSUMED_DAY = 60

/** Day 0 in some workbooks of Excel for Mac. */
const EPOCH_1904 = Date.UTC(1904, 0, 1)

const ROUNDED_MIN = 1e15

/** More than 15 significant digits. */
const EXACT = /^-?[1-9]\d{14,}[1-9]0*$/

const YEAR_10000 = Date.UTC(10000, 0, 1)

/** The text of a number: decimal, or a date or time in the notation of RFC 3339. */
export function numberText(number: string, format: CellFormat, is1904: boolean): string {
  const value = Number(number)
  return (format !== 'number' && dateText(value, format, is1904)) || decimalText(number, value)
}

function dateText(
  value: number,
  format: Exclude<CellFormat, 'number'>,
  is1904: boolean,
): string | undefined {
  const assumed = !is1904 && value < ASSUMED_DAY ? DAY_MS : 0
  const time = (is1904 ? EPOCH_1904 : EPOCH_1900) + assumed + Math.round(value * DAY_MS)
  if (!(value >= 0 && time < YEAR_10000)) return undefined
  const text = new Date(time).toISOString().replace('.000Z', 'Z')
  if (format === 'date') return text.slice(0, 'yyyy-mm-dd'.length)
  return format === 'time' && value < 1 ? text.slice('yyyy-mm-ddT'.length, -1) : text
}

/**
 * The shortest decimal. Spreadsheets round integers to 15 digits, so those that they may have rounded have an exponent,
 * which an id must not have. Other programs write all digits.
 */
function decimalText(number: string, value: number): string {
  if (!Number.isInteger(value)) return String(value)
  if (Math.abs(value) < ROUNDED_MIN) return String(value + 0)
  return EXACT.test(number) ? number : value.toExponential()
}
