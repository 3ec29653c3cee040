import { LOWER_E, MINUS, POINT, UPPER_E, ZERO } from './bytes.ts'

export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

/** Each integer has exactly one spelling, so that a plant has exactly one URL. */
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/

/** The powers of ten within int64. */
const POWERS_OF_TEN = Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent))

/** An integer of at most this many characters is exact as a double. */
export const SAFE_LENGTH = 15

/**
 * The value, in parsed JSON, of a number that cannot be represented: an integer beyond int64, a fraction
 * that a double would round to an integer, or a number beyond the range of a double. No schema accepts it.
 */
export const INEXACT = Symbol('inexact number')

/** Parses an int64 in decimal. Returns undefined for any other spelling, such as `+1`, `01` or `1.0`. */
export function parseInt64(decimal: string): bigint | undefined {
  if (!DECIMAL.test(decimal)) return undefined
  const integer = BigInt(decimal)
  return integer >= INT64_MIN && integer <= INT64_MAX ? integer : undefined
}

/** The value of a decimal number: its digits times a power of ten. */
export interface Decimal {
  readonly isNegative: boolean
  /** Without zeros at the start and the end; empty for zero. */
  readonly digits: string
  /** The exponent of the last digit. */
  readonly exponent: number
}

/**
 * The value of a JSON number as a decimal. Two numbers are equal if and only if their digits, signs and exponents are,
 * except that those of zero have no meaning.
 */
export function toDecimal(number: string): Decimal {
  const start = number.charCodeAt(0) === MINUS ? 1 : 0
  let point = -1
  let first = -1
  let last = -1
  // A loop, because /0+$/ takes quadratic time in V8.
  let end = start
  for (; end < number.length; end++) {
    const character = number.charCodeAt(end)
    if (character === ZERO) continue
    if (character === LOWER_E || character === UPPER_E) break
    if (character === POINT) {
      point = end
    } else {
      if (first === -1) first = end
      last = end
    }
  }
  const units = point === -1 ? end : point
  // Positive if the last digit is followed by zeros, negative if it is in the fraction.
  const zeros = last < units ? units - 1 - last : units - last
  return {
    isNegative: start === 1,
    digits: number.slice(first, last + 1).replace('.', ''),
    exponent: zeros + Number(number.slice(end + 1)),
  }
}

/**
 * The value of a JSON number as an int64. JSON Schema defines an integer by its value, so `1`, `1.0` and
 * `10e-1` are the same. Returns undefined for a fraction and for an integer beyond int64.
 */
export function toInt64(number: string): bigint | undefined {
  const { isNegative, digits, exponent } = toDecimal(number)
  if (digits === '') return 0n
  if (exponent < 0 || digits.length + exponent > 19) return undefined
  const magnitude = BigInt(digits) * (POWERS_OF_TEN[exponent] as bigint)
  const integer = isNegative ? -magnitude : magnitude
  return integer >= INT64_MIN && integer <= INT64_MAX ? integer : undefined
}

/**
 * The value of a JSON number: a bigint for an int64 that a double cannot hold, otherwise a number. A
 * fraction is rounded to the nearest double. Returns INEXACT if the result would be a different integer.
 */
export function exactNumber(number: string): number | bigint | typeof INEXACT {
  const value = Number(number)
  // No integer rounds to a fraction.
  if (!Number.isInteger(value)) return Number.isFinite(value) ? value : INEXACT
  if (number.length <= SAFE_LENGTH && value !== 0 && Number.isSafeInteger(value)) return value
  const integer = toInt64(number)
  if (integer === undefined) return INEXACT
  return Number.isSafeInteger(value) ? value : integer
}
