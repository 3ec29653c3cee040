import { INEXACT, SAFE_LENGTH, toDecimal } from './int64.ts'

/** The number grammar of RFC 8259 §6. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Doubles below this, except zero, can have fewer than SAFE_LENGTH exact digits. */
const PRECISE_MIN = 2 ** -1022

/**
 * The value of a JSON number if its double reproduces it: if the shortest decimal that identifies the double, which is
 * how JavaScript writes it, has exactly this value. Otherwise, and for a number beyond the range of a double, INEXACT.
 * -0 becomes 0.
 */
export function exactDecimal(number: string): number | typeof INEXACT {
  const value = Number(number)
  const magnitude = Math.abs(value)
  if (magnitude === Number.POSITIVE_INFINITY) return INEXACT
  if (number.length <= SAFE_LENGTH && magnitude >= PRECISE_MIN) return value
  const decimal = toDecimal(number)
  if (value === 0) return decimal.digits === '' ? 0 : INEXACT
  const written = toDecimal(String(value))
  const isSame = decimal.digits === written.digits && decimal.exponent === written.exponent
  return isSame ? value : INEXACT
}

/** Reads a number in JSON's notation. Returns undefined for other text, and for a number that its double changes. */
export function readDecimal(text: string): number | undefined {
  const value = NUMBER.test(text) ? exactDecimal(text) : INEXACT
  return value === INEXACT ? undefined : value
}
