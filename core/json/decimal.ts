import { type Decimal, INEXACT, SAFE_LENGTH, toDecimal } from './int64.ts'

/** The number grammar of RFC 8259 §6. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Doubles below this, except zero, can have fewer than SAFE_LENGTH exact digits. */
const PRECISE_MIN = 2 ** -1022

/** The most digits that `toPrecision` writes. */
const PRECISION_MAX = 100

/** Every double with at most DIGITS_MAX + 1 digits is a multiple of 2^-25, because 5^26 is longer. */
const HALFWAY_SCALE = 2 ** 25

/** This many significant digits identify every double. */
const DIGITS_MAX = 17

/**
 * The value of a JSON number that a program can have written for a double: one with at most 17 significant digits that is
 * the double rounded to as many digits. INEXACT for any other number, such as one beyond the range of a double. -0 becomes
 * 0.
 */
export function exactDecimal(number: string): number | typeof INEXACT {
  const value = Number(number)
  const magnitude = Math.abs(value)
  if (magnitude === Number.POSITIVE_INFINITY) return INEXACT
  if (number.length <= SAFE_LENGTH && magnitude >= PRECISE_MIN) return value
  const decimal = toDecimal(number)
  if (value === 0) return decimal.digits === '' ? 0 : INEXACT
  return isRounded(decimal, value) ? value : INEXACT
}

/** Whether JavaScript writes the double nearest to a JSON number as a number of the same value. */
export function isPreserved(number: string): boolean {
  const value = Number(number)
  if (number.length <= SAFE_LENGTH && Math.abs(value) >= PRECISE_MIN) return true
  return Number.isFinite(value) && isEqual(toDecimal(number), toDecimal(String(value)))
}

function isRounded(decimal: Decimal, value: number): boolean {
  const { length } = decimal.digits
  if (length > DIGITS_MAX) return false
  if (isEqual(decimal, toDecimal(value.toPrecision(length)))) return true
  // A double halfway between two decimals rounds up here, and to an even digit in most languages.
  if (length <= SAFE_LENGTH || !Number.isInteger(value * HALFWAY_SCALE)) return false
  const half = { ...decimal, digits: `${decimal.digits}5`, exponent: decimal.exponent - 1 }
  return isEqual(half, toDecimal(value.toPrecision(PRECISION_MAX)))
}

/** Signs are not compared. */
function isEqual(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && (one.digits === '' || one.exponent === other.exponent)
}

/** Reads a number in JSON's notation. Returns undefined for other text, and for a number that its double changes. */
export function readDecimal(text: string): number | undefined {
  const value = NUMBER.test(text) ? exactDecimal(text) : INEXACT
  return value === INEXACT ? undefined : value
}
