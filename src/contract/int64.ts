const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const UPPER_E = 0x45
const LOWER_E = 0x65

export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n

/** One string for each integer, so that no two URLs and no two lines mean the same plant. */
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/

/** Up to the largest power of ten within int64. */
const POWERS_OF_TEN = Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent))

/** A number with at most this many digits survives the round trip through a double. */
const SAFE_LENGTH = 15

/** The int64 that a text is the decimal of; undefined for any other text, such as `+1`, `01` or `1.0`. */
export function parseInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined
  const integer = BigInt(text)
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : undefined
}

/**
 * The int64 that a JSON number denotes, whatever its spelling: `1`, `1.0` and `10e-1` are the same.
 * Undefined for a number that is no integer or beyond int64.
 */
export function toInt64(number: string): bigint | undefined {
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
  if (first === -1) return 0n
  const exponent = Number(number.slice(end + 1))
  const between = first < point && point < last ? 1 : 0
  const significant = last + 1 - first - between
  // Zeros after the last significant digit; negative if that digit is in the fraction.
  const units = point === -1 ? end : point
  const zeros = (last < units ? units - 1 - last : units - last) + exponent
  if (zeros < 0 || significant + zeros > 19) return undefined
  const digits = number.slice(first, last + 1).replace('.', '')
  const magnitude = BigInt(digits) * (POWERS_OF_TEN[zeros] as bigint)
  const integer = start === 0 ? magnitude : -magnitude
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : undefined
}

/**
 * The value of a JSON number, never a different integer than the one written. A bigint if a double cannot
 * hold the integer; NaN if it is an integer beyond int64, or a fraction that rounds to an integer. Otherwise the
 * closest double.
 */
export function exactNumber(number: string): number | bigint {
  const value = Number(number)
  // No integer rounds to a fraction, so this number is not an integer, or is out of range.
  if (!Number.isInteger(value)) return value
  if (number.length <= SAFE_LENGTH && value !== 0 && Number.isSafeInteger(value)) return value
  const integer = toInt64(number)
  if (integer === undefined) return Number.NaN
  return Number.isSafeInteger(value) ? value : integer
}
