export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n

/** One text for each integer, so that no two URLs and no two lines mean the same plant. */
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/

/** The int64 that a text is the decimal of; undefined for any other text, such as `+1`, `01` or `1.0`. */
export function parseInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined
  const integer = BigInt(text)
  return integer >= MIN_INT64 && integer <= MAX_INT64 ? integer : undefined
}
