export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n

/** One text for each integer, so that no two URLs and no two lines mean the same plant. */
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/

/** Takes a JSON number apart: sign, whole part, fraction, exponent. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

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
export function integerOf(number: string): bigint | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(number) as unknown as string[]
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return 0n
  const zeros = digits.length - significant.length - fraction.length + Number(exponent)
  if (zeros < 0 || significant.length + zeros > 19) return undefined
  const integer = BigInt(sign + significant + '0'.repeat(zeros))
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : undefined
}
