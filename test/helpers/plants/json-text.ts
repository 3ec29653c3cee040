/** Generates JSON together with its value, independently of the parser under test. */
import fc from 'fast-check'
import { INEXACT } from '../../../core/json/int64.ts'
import { anyText } from './arbitraries.ts'

export interface JsonText {
  readonly text: string
  readonly value: unknown
}

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

const space = fc.constantFrom('', ' ', '\n\t', '\r')

const digits = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 }),
  fc.constantFrom('0', '00', '9007199254740993', '9223372036854775807', '9223372036854775808'),
)

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits.map((text) => text.replace(/^0+(?=\d)/, '')),
    fc.oneof(
      fc.constant(''),
      digits.map((text) => `.${text}`),
    ),
    fc.oneof(
      fc.constantFrom('', '', 'e999999999', 'E-999999999'),
      fc.integer({ min: -40, max: 40 }).map((exponent) => `e${exponent}`),
      fc.nat({ max: 400 }).map((exponent) => `E+${exponent}`),
    ),
  )
  .map((parts) => parts.join(''))

const number = numberText.map((text) => ({ text, value: exactValue(text) }))

const plainString = fc
  .oneof(anyText({ maxLength: 8 }), fc.constantFrom('id', '__proto__', '1e16', '12345678901234567'))
  .map((value) => ({ text: JSON.stringify(value), value }))

/** Every character as an escape sequence, including lone surrogates. */
const escapedString = anyText({ maxLength: 4 }).map((value) => ({
  text: `"${Array.from({ length: value.length }, (_, index) => escaped(value.charCodeAt(index))).join('')}"`,
  value,
}))

const string = fc.oneof(plainString, escapedString)

const literal = fc
  .constantFrom(true, false, null)
  .map((value) => ({ text: JSON.stringify(value), value }))

/** Any JSON, a few levels deep. */
export function jsonText(): fc.Arbitrary<JsonText> {
  const { any } = fc.letrec<{ any: JsonText; array: JsonText; object: JsonText }>((tie) => ({
    any: fc
      .tuple(
        space,
        fc.oneof({ maxDepth: 3 }, number, string, literal, tie('array'), tie('object')),
        space,
      )
      .map(([before, { text, value }, after]) => ({ text: before + text + after, value })),
    array: fc.tuple(space, fc.array(tie('any'), { maxLength: 4 })).map(([space, items]) => ({
      text: `[${items.map(({ text }) => text).join() || space}]`,
      value: items.map(({ value }) => value),
    })),
    object: fc
      .tuple(space, fc.array(fc.tuple(string, space, tie('any')), { maxLength: 4 }))
      .map(([space, members]) => ({
        text: `{${members.map(([name, after, { text }]) => `${name.text}${after}:${text}`).join() || space}}`,
        // Unlike an assignment, this makes __proto__ a member.
        value: Object.fromEntries(members.map(([name, , { value }]) => [name.value, value])),
      })),
  }))
  return any
}

/** The expected value of a number, computed with bigints. */
export function exactValue(text: string): number | bigint | typeof INEXACT {
  const rounded = Number(text)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text) ?? []
  const mantissa = BigInt(whole + fraction)
  const power = Number(exponent) - fraction.length
  if (!Number.isFinite(rounded)) return INEXACT
  if (mantissa === 0n || !Number.isInteger(rounded)) return rounded
  const integer = scaled(mantissa, power)
  if (integer === undefined) return INEXACT
  const signed = sign === '-' ? -integer : integer
  if (Number.isSafeInteger(rounded)) return Number(signed)
  return signed >= INT64.min && signed <= INT64.max ? signed : INEXACT
}

/** Undefined if it is not an integer, or far beyond int64. */
function scaled(mantissa: bigint, power: number): bigint | undefined {
  if (Math.abs(power) > 1000) return undefined
  if (power >= 0) return mantissa * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return mantissa % divisor === 0n ? mantissa / divisor : undefined
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
